"""`awo simulate …`: stand-ins for what the product talks to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent_work_orders.cli import options
from agent_work_orders.cli.outcome import guarded, wait_for

if TYPE_CHECKING:
    from github_simulator.standing import Cast

app = typer.Typer(
    no_args_is_help=True, help="Stand-ins on this machine for what the product talks to."
)

WEBHOOK = "http://127.0.0.1:8420/webhook/github"


@app.command("github")
@guarded
def github(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="0 takes a free one.")
    ] = 8421,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", help="Where repositories and key are kept.  [default: a temporary one]"
        ),
    ] = None,
    no_app: Annotated[
        bool, typer.Option("--no-app", help="Without an App: to rehearse `awo github setup`.")
    ] = False,
    webhook_url: Annotated[
        str, typer.Option("--webhook-url", help="Where the App's webhooks go.")
    ] = WEBHOOK,
    as_json: options.Json = False,
) -> None:
    """A GitHub on this machine, to rehearse with: its API, git over HTTP and webhooks.

    It starts with a sample: a repository, an App that is installed on it, somebody who writes and
    somebody who only reads. What it knows is in memory and gone when it ends (Ctrl-C).
    """
    import contextlib
    import tempfile

    from agent_work_orders.cli import request
    from agent_work_orders.cli.demo.sample import material
    from agent_work_orders.workflow_engine import yaml_source
    from github_simulator.standing import stand

    files = {
        str(path): str(content)
        for path, content in yaml_source.load(material("sample.yaml"), "sample.yaml").items()
    }

    def ready(cast: Cast) -> None:
        script = Path(cast.folder) / "script.yaml"
        script.write_text(material("script.yaml"), "utf-8")
        _tell(cast, script, as_json)

    with contextlib.ExitStack() as kept:
        if folder is not None:
            place = request.folder(folder, "--folder")
        else:
            place = Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="awo-github-")))
        wait_for(
            lambda: stand(
                place.absolute(),
                port=port,
                webhook_url=webhook_url,
                on_ready=ready,
                files=files,
                with_app=not no_app,
            )
        )


def _tell(cast: Cast, script: Path, as_json: bool) -> None:
    import msgspec

    from agent_work_orders.cli.screen import Screen, print_json

    if as_json:
        print_json(msgspec.to_builtins(cast))
        return
    screen = Screen()
    screen.heading(f"A simulated GitHub listens at {cast.url}")
    screen.pairs(
        [
            ("repository", f"{cast.repository}  ({cast.clone_url})"),
            *(_of_app(cast) if cast.app_id else [("App", "none: awo github setup makes one")]),
            ("webhooks", f"to {cast.webhook_url or 'nowhere'}"),
            ("writes", f"{cast.writer}, token {cast.writer_token}"),
            ("reads only", f"{cast.reader}, token {cast.reader_token}"),
            ("direct it", f"{cast.url}/_simulator/  (lists what can be asked)"),
        ]
    )
    screen.line()
    screen.heading("Start the product on it")
    here = (
        f"GITHUB_API_URL={cast.url} GITHUB_SERVER_URL={cast.url} AWO_GIT_ORIGINS={cast.url}",
        f"AWO_DEFAULT_AGENT=scripted AWO_AGENT_SCRIPT={script}",
    )
    if cast.app_id:
        mine = (
            f"GITHUB_APP_ID={cast.app_id} GITHUB_PRIVATE_KEY={cast.private_key_file}",
            f"GITHUB_WEBHOOK_SECRET={cast.webhook_secret} awo up",
        )
        lines = [f"{line} \\" for line in (*here, mine[0])] + [mine[1]]
    else:
        lines = [f"export {line}" for line in here]
        lines += [f"awo github setup --org {cast.owner} --webhook-url {WEBHOOK}", "awo up"]
    for line in lines:
        screen.line(line, indent=2)
    screen.line("The scripted agent follows a file; leave its line out to use a model.", indent=2)


def _of_app(cast: Cast) -> list[tuple[str, str | None]]:
    return [
        ("App", f"{cast.app_id}, installation {cast.installation_id}"),
        ("key", f"in {cast.private_key_file}"),
        ("webhook secret", cast.webhook_secret),
    ]
