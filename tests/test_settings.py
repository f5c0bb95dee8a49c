"""Every setting is documented, read from its variable, and refused when it makes no sense."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from agent_work_orders import settings
from agent_work_orders.errors import Refused

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"


def test_every_field_has_a_variable_and_a_line_in_the_docs() -> None:
    names = [field.name for field in settings.FIELDS]
    assert sorted(names) == sorted(
        field.name for field in msgspec.structs.fields(settings.Settings)
    )
    page = PAGE.read_text()
    for field in settings.FIELDS:
        assert f"| `{field.variable}` | {field.meaning} |" in page


def test_defaults_and_values(tmp_path: Path) -> None:
    found = settings.load({}, home=tmp_path)
    assert (found.port, found.host, found.home) == (8420, "127.0.0.1", tmp_path)
    environ = {
        "AWO_HOME": str(tmp_path / "h"),
        "AWO_PORT": "1",
        "AWO_DRAIN_S": "0.5",
        "AWO_ALLOWED_HOSTS": "a, b,,",
        "AWO_LOG_LEVEL": "",
    }
    found = settings.load(environ, host="::1", port=None)
    assert (found.home, found.port, found.drain_s) == (tmp_path / "h", 1, 0.5)
    assert (found.allowed_hosts, found.log_level, found.host) == (("a", "b"), "info", "::1")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWO_PORT", "http"), ("AWO_PORT", "-1"), ("AWO_PORT", "65536"), ("AWO_PORT", "1.5"),
        ("AWO_LOG_LEVEL", "loud"), ("AWO_SYNCHRONOUS", "OFF"), ("AWO_RUNNING_TASKS", "0"),
        ("AWO_ORDERS_PER_REPOSITORY", "-1"), ("AWO_STARTS_PER_MINUTE", "-1"),
        ("AWO_STARTS_PER_REPOSITORY_PER_HOUR", "-2"), ("AWO_DRAIN_S", "nan"),
        ("AWO_DRAIN_S", "-1"), ("AWO_DRAIN_S", "inf"), ("AWO_BODY_LIMIT_BYTES", "0"),
        ("AWO_AGENT_UID", "-1"), ("AWO_AGENT_UID", "root"), ("AWO_HOST", "a\nb"),
        ("ANTHROPIC_BASE_URL", "file:///etc/passwd"), ("ANTHROPIC_API_KEY", "short"),
    ],
)  # fmt: skip
@pytest.mark.fault("I3")
def test_nonsense_is_refused_by_name(variable: str, value: str) -> None:
    with pytest.raises(Refused, match=variable) as refused:
        settings.load({variable: value})
    assert refused.value.code == "setting_invalid" and refused.value.field == variable
    assert refused.value.hint
