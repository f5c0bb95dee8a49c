"""`awo credentials`: secrets come by stdin, and never out again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_work_orders import settings
from agent_work_orders.cli.main import app
from github_simulator.outside.app_jwt import new_key_pair

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ456789"


def given(awo: Any, secret: str, *args: str) -> Any:
    return CliRunner().invoke(app, args, input=secret, env={"AWO_HOME": str(awo.home)})


@pytest.mark.fault("I5")
def test_set_list_rotate_and_remove(awo: Any) -> None:
    made = given(awo, TOKEN + "\n", "credentials", "set", "GITHUB_TOKEN")
    assert made.exit_code == 0 and TOKEN[-4:] in made.stdout
    assert TOKEN[:-4] not in made.stdout + made.stderr
    [one] = awo.inside("credentials", "list", "--json").json["credentials"]
    assert (one["name"], one["last4"]) == ("GITHUB_TOKEN", TOKEN[-4:]) and len(one) == 3
    assert TOKEN[:-4] not in awo.inside("credentials", "list").out
    assert awo.inside("credentials", "rotate", "--json").json == {"resealed": 1}
    assert awo.inside("credentials", "remove", "GITHUB_TOKEN").code == 0
    assert awo.inside("credentials", "list", "--json").json == {"credentials": []}
    assert awo.inside("credentials", "remove", "GITHUB_TOKEN").code == 2


@pytest.mark.fault("I3")
@pytest.mark.parametrize(
    ("name", "secret"),
    [("AWO_PORT", TOKEN), ("GITHUB_TOKEN", "short"), ("GITHUB_TOKEN", "with a space in it"),
     ("GITHUB_PRIVATE_KEY", TOKEN), ("GITHUB_WEBHOOK_SECRET", "good-secret,x")],
)  # fmt: skip
def test_what_would_not_fit_as_a_setting_is_not_kept(awo: Any, name: str, secret: str) -> None:
    done = given(awo, secret, "credentials", "set", name)
    assert done.exit_code == 2
    assert awo.inside("credentials", "list", "--json").json == {"credentials": []}


def test_the_key_of_an_app_is_kept_and_its_id_is_then_enough(awo: Any, tmp_path: Path) -> None:
    private, _ = new_key_pair()
    file = tmp_path / "app.pem"
    file.write_text(private)
    file.chmod(0o600)
    done = given(awo, str(file), "credentials", "set", "GITHUB_PRIVATE_KEY")
    assert done.exit_code == 0, done.output
    file.unlink()
    loaded = settings.load({"GITHUB_APP_ID": "7"}, home=awo.home)
    merged = settings.with_kept(loaded, {"GITHUB_PRIVATE_KEY": private})
    assert merged.github.private_key.strip() == private.strip()
    with pytest.raises(Exception, match="need each other"):
        settings.with_kept(loaded, {})


def test_nothing_is_kept_while_a_server_owns_the_directory(awo: Any) -> None:
    hold = (
        "import sys, time; from pathlib import Path\n"
        "from agent_work_orders.clock import SystemClock\n"
        "from agent_work_orders.state_manager.sqlite.store import SqliteStore\n"
        "store = SqliteStore.open(Path(sys.argv[1]), SystemClock())\n"
        "print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(awo.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout is not None and owner.stdout.readline() == b"open\n"
        done = given(awo, TOKEN, "credentials", "set", "GITHUB_TOKEN", "--json")
        assert done.exit_code == 2 and "data_directory_in_use" in done.output
        owner.communicate()
