"""`python -m agent_work_orders.testing.simulation [--seeds N] [--first N] [--no-systematic]`."""

from __future__ import annotations

import argparse
import sys
from itertools import chain

from agent_work_orders.testing.simulation import campaign


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--no-systematic", action="store_true", help="leave out every boundary")
    parser.add_argument("--most-failed", type=int, default=1, help="stop after so many failures")
    given = parser.parse_args()
    schedules = chain(
        () if given.no_systematic else campaign.systematic(),
        campaign.seeds(given.first, given.seeds),
    )
    tally = campaign.run(schedules, most_failed=given.most_failed)
    print(tally.told())
    for report in tally.failed:
        print(report.told())
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
