"""A server in a process of its own: prints its address when it is ready."""

from __future__ import annotations

import sys
from pathlib import Path

import structlog

from agent_work_orders.api.server import serve
from agent_work_orders.errors import AgentWorkOrdersError
from agent_work_orders.settings import Settings, changed


def main() -> int:
    structlog.configure(processors=[lambda *_: (_ for _ in ()).throw(structlog.DropEvent)])
    home, host, port = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    secrets = tuple(sys.argv[4:])
    try:
        return serve(
            changed(
                Settings(home=home),
                {
                    "server.host": host,
                    "server.port": port,
                    "server.drain_s": 2,
                    "github.webhook_secret": secrets,
                },
            ),
            lambda url, house: print(url, house.local_key, flush=True),
        )
    except AgentWorkOrdersError as error:
        print(error.code, flush=True)
        return 3


if __name__ == "__main__":
    raise SystemExit(main())
