"""Every setting is documented, read from its variable, and refused when it makes no sense."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import msgspec
import pytest

from agent_work_orders import settings
from agent_work_orders.agent_executor import registry
from agent_work_orders.errors import Refused
from agent_work_orders.sandbox_manager.sandbox_types import SANDBOX_TYPES

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"


def test_every_field_has_a_variable_and_a_line_in_the_docs() -> None:
    names = [field.name for field in settings.FIELDS]
    whole = settings.Settings(home=Path())
    fields = msgspec.structs.fields(settings.Settings)
    sections = [one.name for one in fields if one.name not in ("home", "repository")]
    assert sorted(names) == sorted(
        [
            "home",
            *(
                f"{section}.{one.name}"
                for section in sections
                for one in msgspec.structs.fields(type(getattr(whole, section)))
            ),
        ]
    )
    page = PAGE.read_text()
    for field in settings.FIELDS:
        assert f"| `{field.variable}` | {field.meaning} |" in page


def test_defaults_and_values(tmp_path: Path) -> None:
    found = settings.load({}, home=tmp_path)
    assert (found.server.port, found.server.host, found.home) == (8420, "127.0.0.1", tmp_path)
    environ = {
        "AWO_HOME": str(tmp_path / "h"),
        "AWO_PORT": "1",
        "AWO_DRAIN_S": "0.5",
        "AWO_ALLOWED_HOSTS": "a, b,,",
        "AWO_LOG_LEVEL": "",
    }
    found = settings.load(environ, host="::1", port=None)
    assert (found.home, found.server.port, found.server.drain_s) == (tmp_path / "h", 1, 0.5)
    assert (found.server.allowed_hosts, found.server.log_level, found.server.host) == (
        ("a", "b"),
        "info",
        "::1",
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWO_PORT", "http"), ("AWO_PORT", "-1"), ("AWO_PORT", "65536"), ("AWO_PORT", "1.5"),
        ("AWO_LOG_LEVEL", "loud"), ("AWO_SYNCHRONOUS", "OFF"), ("AWO_RUNNING_TASKS", "0"),
        ("AWO_ORDERS_PER_REPOSITORY", "-1"), ("AWO_STARTS_PER_MINUTE", "-1"),
        ("AWO_STARTS_PER_REPOSITORY_PER_HOUR", "-2"), ("AWO_DRAIN_S", "nan"),
        ("AWO_GITHUB_TIMEOUT_S", "0.5"), ("AWO_GITHUB_TIMEOUT_S", "nan"),
        ("AWO_DRAIN_S", "-1"), ("AWO_DRAIN_S", "inf"), ("AWO_BODY_LIMIT_BYTES", "0"),
        ("AWO_AGENT_IDLE_S", "-1"), ("AWO_AGENT_IDLE_S", "nan"), ("AWO_AGENT_IDLE_S", "86401"),
        ("AWO_AGENT_UID", "-1"), ("AWO_AGENT_UID", "root"), ("AWO_HOST", "a\nb"),
        ("AWO_AGENT_UID", "0-5"), ("AWO_AGENT_UID", "6-5"), ("AWO_AGENT_UID", "1-2-3"),
        ("AWO_AGENT_UID", "5-2147483648"), ("AWO_AGENT_UID", "5-"), ("AWO_AGENT_UID", "00"),
        ("ANTHROPIC_BASE_URL", "file:///etc/passwd"), ("ANTHROPIC_API_KEY", "short"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "short"), ("ANTHROPIC_AUTH_TOKEN", "a token of words"),
        ("CLAUDE_CODE_USE_BEDROCK", "maybe"), ("CLAUDE_CODE_USE_VERTEX", "yes please"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/key.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "{}"), ("GOOGLE_APPLICATION_CREDENTIALS", "/"),
        ("AWO_CONTAINER_SOCKETS", "docker.sock"), ("AWO_CONTAINER_ROOTFS", "/nonexistent"),
        ("AWO_MCP_CONFIG", "/nonexistent/mcp.json"), ("AWO_MCP_CONFIG", "/"),
        ("GITHUB_APP_ID", "-1"), ("GITHUB_APP_ID", "my-app"), ("GITHUB_INSTALLATION_ID", "x"),
        ("GITHUB_TOKEN", "short"), ("GITHUB_TOKEN", "a token of words"),
        ("GITHUB_WEBHOOK_SECRET", ""), ("GITHUB_WEBHOOK_SECRET", ","),
        ("GITHUB_WEBHOOK_SECRET", "long-enough-1,short"),
        ("GITHUB_WEBHOOK_SECRET", "long-enough-1,,long-enough-2"),
        ("GITHUB_WEBHOOK_SECRET", ",".join(["long-enough"] * 5)),
        ("GITHUB_API_URL", "http://api.github.com"), ("GITHUB_API_URL", "https://"),
        ("GITHUB_API_URL", "ftp://127.0.0.1"), ("GITHUB_API_URL", "https://a:b@example.com"),
        ("GITHUB_API_URL", "https://example.com/?q"), ("GITHUB_API_URL", "http://127.0.0.1.evil"),
        ("GITHUB_SERVER_URL", "http://localhost.evil"), ("GITHUB_SERVER_URL", "https://[::1"),
        ("GITHUB_SERVER_URL", "//github.com"), ("GITHUB_API_URL", "https://exam\nple.com"),
        ("AWO_PUBLIC_URL", "awo.example.com"), ("AWO_PUBLIC_URL", "https://a@example.com"),
        ("AWO_PUBLIC_URL", "https://x.example/)[y]("), ("AWO_PUBLIC_URL", "javascript:alert(1)"),
        ("GITHUB_PRIVATE_KEY", "/nonexistent/key.pem"), ("GITHUB_PRIVATE_KEY", "/"),
        ("GITHUB_PRIVATE_KEY", "-----BEGIN PUBLIC KEY-----\nabcd\n-----END PUBLIC KEY-----"),
        ("GITHUB_PRIVATE_KEY", "-----BEGIN PRIVATE KEY-----\nabcd"),
    ],
)  # fmt: skip
@pytest.mark.fault("I3")
def test_nonsense_is_refused_by_name(variable: str, value: str) -> None:
    with pytest.raises(Refused, match=variable) as refused:
        settings.load({variable: value})
    assert refused.value.code == "setting_invalid" and refused.value.field == variable
    assert refused.value.hint


@pytest.mark.parametrize(
    ("environ", "field"),
    [
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "AWS_REGION"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "a b"}, "AWS_REGION"),
        (
            {
                "CLAUDE_CODE_USE_BEDROCK": "1",
                "AWS_REGION": "eu-west-1",
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
            },
            "AWS_ACCESS_KEY_ID",
        ),
        ({"CLAUDE_CODE_USE_VERTEX": "1"}, "CLOUD_ML_REGION"),
        (
            {"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "europe-west1"},
            "ANTHROPIC_VERTEX_PROJECT_ID",
        ),
        (
            {
                "CLAUDE_CODE_USE_BEDROCK": "1",
                "AWS_REGION": "eu-west-1",
                "CLAUDE_CODE_USE_VERTEX": "1",
            },
            "CLAUDE_CODE_USE_VERTEX",
        ),
    ],
)
def test_a_cloud_says_what_it_needs(environ: dict[str, str], field: str) -> None:
    with pytest.raises(Refused) as refused:
        settings.load(environ)
    assert refused.value.field == field


def test_what_belongs_to_a_cloud_that_is_not_used_stops_nobody() -> None:
    """Other programs read the same variables."""
    found = settings.load({"AWS_REGION": "a b", "AWS_SECRET_ACCESS_KEY": "short"})
    assert not found.sign_in.bedrock


def test_secrets_of_every_way_to_sign_in_are_written_nowhere(tmp_path: Path) -> None:
    google = {"type": "service_account", "private_key": "of-google-0123456789"}
    mcp = {"mcpServers": {"a": {"command": "x", "env": {"A_TOKEN": "of-mcp-0123456789"}}}}
    (tmp_path / "google.json").write_text(json.dumps(google))
    (tmp_path / "mcp.json").write_text(json.dumps(mcp))
    found = settings.load(
        {
            "CLAUDE_CODE_OAUTH_TOKEN": "of-claude-0123456789",
            "ANTHROPIC_AUTH_TOKEN": "of-gateway-0123456789",
            "AWS_BEARER_TOKEN_BEDROCK": "of-bedrock-0123456789",
            "AWS_SECRET_ACCESS_KEY": "of-aws-0123456789",
            "AWS_SESSION_TOKEN": "of-session-0123456789",
            "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "google.json"),
            "AWO_MCP_CONFIG": str(tmp_path / "mcp.json"),
        }
    )
    names = ("claude", "gateway", "bedrock", "aws", "session", "google", "mcp")
    assert {f"of-{name}-0123456789" for name in names} <= set(found.secrets)


PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcd\n-----END RSA PRIVATE KEY-----\n"


def test_the_key_of_an_app_is_text_or_a_file_of_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "app.pem"
    file.write_text(PEM)
    file.chmod(0o600)
    packed = base64.b64encode(PEM.encode()).decode()
    lines = "\n".join(packed[n : n + 20] for n in range(0, len(packed), 20))
    inner = base64.urlsafe_b64encode(PEM.replace("\n", "\\n").encode()).decode().rstrip("=")
    wrapped = tmp_path / "app.b64"
    wrapped.write_text(lines)
    wrapped.chmod(0o600)
    text = (PEM, PEM.replace("\n", "\\n"), PEM.replace("\n", "\r\n"))
    forms = (packed, lines, lines.replace("\n", "\\n"), f" {packed}\n", inner)
    for value in (*text, *forms, str(file), str(wrapped)):
        found = settings.load({"GITHUB_APP_ID": "7", "GITHUB_PRIVATE_KEY": value})
        assert (found.github.app_id, found.github.private_key.replace("\r", "")) == ("7", PEM)
    for mode in (0o640, 0o604, 0o660):
        file.chmod(mode)
        with pytest.raises(Refused, match="can be read by others") as refused:
            settings.load({"GITHUB_APP_ID": "7", "GITHUB_PRIVATE_KEY": str(file)})
        assert refused.value.field == "GITHUB_PRIVATE_KEY" and "chmod 600" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PEM.replace("MIIE", "Proc-Type: 4,ENCRYPTED\nMIIE"), "passphrase"),
        (PEM.replace("RSA", "ENCRYPTED"), "passphrase"),
        (PEM.replace("END RSA", "END"), "cut off"),
    ],
)
def test_a_key_that_cannot_sign_is_refused_without_its_words(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why) as refused:
        settings.load({"GITHUB_APP_ID": "7", "GITHUB_PRIVATE_KEY": text})
    assert "MIIE" not in str(refused.value)


def test_a_bad_value_is_told_by_its_shape_unless_it_is_harmless() -> None:
    for environ, told in (
        ({"AWO_PORT": "-1"}, "given: '-1'"),
        ({"AWO_PORT": "ghp_0123456789"}, "given: 14 characters"),
        ({"GITHUB_TOKEN": "short"}, "given: 5 characters"),
        (
            {"GITHUB_APP_ID": "7", "GITHUB_PRIVATE_KEY": "MIIE" * 400},
            "1600 characters, like base64",
        ),
        ({"GITHUB_API_URL": "https://a:b@example.com"}, "like an address with a user in it"),
        ({"AWO_DEFAULT_AGENT": "claude"}, "given: 'claude'"),
    ):
        with pytest.raises(Refused) as refused:
            settings.load(environ)
        assert told in refused.value.message


def test_the_names_of_agents_and_sandboxes_are_the_known_ones() -> None:
    assert tuple(registry.DESCRIPTIONS) == settings.AGENTS
    for name in SANDBOX_TYPES:
        assert settings.load({"AWO_DEFAULT_SANDBOX": name}).orders.default_sandbox == name


def test_an_app_needs_its_key_and_a_key_its_app() -> None:
    for environ in ({"GITHUB_APP_ID": "7"}, {"GITHUB_PRIVATE_KEY": PEM}):
        with pytest.raises(Refused, match="need each other"):
            settings.load(environ)


@pytest.mark.fault("C13")
def test_the_settings_of_github() -> None:
    found = settings.load(
        {
            "GITHUB_TOKEN": "ghp_" + "a" * 36,
            "GITHUB_WEBHOOK_SECRET": "the-old-one, the-new-one",
            "GITHUB_API_URL": "http://127.0.0.1:8900/api/v3/",
            "GITHUB_SERVER_URL": "https://git.example.com:8443/",
            "ANTHROPIC_API_KEY": "key-of-the-model",
            "AWO_PUBLIC_URL": "http://orders.internal:8420/",
        }
    )
    assert found.server.public_url == "http://orders.internal:8420"
    assert found.github.webhook_secret == ("the-old-one", "the-new-one")
    assert found.github.api_url == "http://127.0.0.1:8900/api/v3"
    assert found.github.server_url == "https://git.example.com:8443"
    assert {found.github.token, "the-old-one", "the-new-one", "key-of-the-model"} <= set(
        found.secrets
    )
    plain = settings.load({})
    assert plain.github.api_url == "https://api.github.com" and not any(plain.secrets)
