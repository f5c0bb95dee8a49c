"""The product's command line in a world whose hours are short: for windows of a quota in a test.

Only the spans are shorter, as the simulator's are (`Rules.hour_s`, `Rules.minute_s`); how much is
allowed within them, and everything else, is as it is.
"""

from __future__ import annotations

import os

from agent_work_orders.cli.main import main
from agent_work_orders.github_integration.http import lane

if __name__ == "__main__":
    lane.HOUR_MS = 1000 * int(os.environ["SHORT_HOUR_S"])
    lane.MINUTE_MS = 1000 * int(os.environ["SHORT_MINUTE_S"])
    lane.STRIKE_MS, lane.MAX_STRIKE_MS = lane.MINUTE_MS, lane.HOUR_MS
    main()
