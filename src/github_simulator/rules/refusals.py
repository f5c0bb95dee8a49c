"""What GitHub refuses: every rule under one name, `refusals.TITLE_BLANK.when(…)`.

They stand in `rules/`, by what they are about; `rule.py` says how they work.
"""

from __future__ import annotations

from github_simulator.rules.checks import *  # noqa: F403 - one name for all rules
from github_simulator.rules.conversations import *  # noqa: F403 - one name for all rules
from github_simulator.rules.graphql import *  # noqa: F403 - one name for all rules
from github_simulator.rules.lookups import *  # noqa: F403 - one name for all rules
from github_simulator.rules.pulls import *  # noqa: F403 - one name for all rules
from github_simulator.rules.repositories import *  # noqa: F403 - one name for all rules
from github_simulator.rules.requests import *  # noqa: F403 - one name for all rules
from github_simulator.rules.reviews import *  # noqa: F403 - one name for all rules
from github_simulator.rules.rule import RULES as RULES
from github_simulator.rules.rule import Absent as Absent
from github_simulator.rules.rule import Rule as Rule
from github_simulator.rules.rule import _disabled as _disabled
from github_simulator.rules.rule import without as without
