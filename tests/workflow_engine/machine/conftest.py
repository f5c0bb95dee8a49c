"""The modules beside these tests (a driver, a reference, generated plans) are imported by name."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
