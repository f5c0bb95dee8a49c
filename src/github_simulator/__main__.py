"""`python -m github_simulator --folder DIR [--port N]`: for demos and
tests in other processes. Says where it listens, and with which cast, as one line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import msgspec

from agent_work_orders.errors import AgentWorkOrdersError
from github_simulator.standing import Cast, stand


def main() -> int:
    parser = argparse.ArgumentParser(prog="github_simulator")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--webhook-url", default="")
    asked = parser.parse_args()

    def say(cast: Cast) -> None:
        print(msgspec.json.encode(cast).decode(), flush=True)

    standing = stand(asked.folder, port=asked.port, webhook_url=asked.webhook_url, on_ready=say)
    try:
        asyncio.run(standing)
    except AgentWorkOrdersError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
