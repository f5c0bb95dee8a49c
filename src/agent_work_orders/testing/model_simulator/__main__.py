"""`python -m agent_work_orders.testing.model_simulator [--port N] [SCRIPT.yaml]`"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from agent_work_orders.testing.model_simulator.script import Script, load
from agent_work_orders.testing.model_simulator.server import ModelSimulator


async def serve(script: Script, port: int) -> None:
    """Serve until cancelled; says where on the first line."""
    async with ModelSimulator(script, port=port) as model:
        print(f"simulated model (scripted, no real model) on {model.url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="model_simulator", description=__doc__)
    parser.add_argument("script", nargs="?", type=Path)
    parser.add_argument("--port", type=int, default=0)
    chosen = parser.parse_args()
    script = load(chosen.script.read_text()) if chosen.script else Script()
    try:
        asyncio.run(serve(script, chosen.port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
