"""The door to the Temporal engine: the only module of this room that needs no extra to be read."""

from __future__ import annotations

from agent_work_orders.clock import Clock
from agent_work_orders.engines.engine import Engine
from agent_work_orders.engines.perform import Performer
from agent_work_orders.engines.temporal.wire import TASK_QUEUE
from agent_work_orders.errors import Environmental, Unavailable


async def connect(
    address: str,
    performer: Performer,
    clock: Clock,
    *,
    namespace: str = "default",
    task_queue: str = TASK_QUEUE,
) -> Engine:
    """An engine on the cluster at `address` (host:port), not yet started. Environmental
    `temporal_not_installed`; Unavailable when nothing answers there."""
    try:
        from temporalio.client import Client

        from agent_work_orders.engines.temporal.engine import TemporalEngine
    except ImportError as error:
        raise Environmental(
            "temporal_not_installed",
            "the Temporal engine needs packages that are not installed",
            hint="pip install 'agent-work-orders[temporal]'",
        ) from error
    try:
        client = await Client.connect(address, namespace=namespace)
    except RuntimeError as error:
        raise Unavailable(
            "engine_unavailable",
            f"no Temporal server answers at {address}: {error}",
            hint="Check the address and that the server is running.",
        ) from error
    return TemporalEngine(client, performer, clock, task_queue=task_queue)
