"""Prints the API's OpenAPI document, without starting a server: the dashboard's types are made
from it (`make web-types`)."""

from __future__ import annotations

import json
import sys

from agent_work_orders.api.app import routed

if __name__ == "__main__":
    json.dump(routed().openapi(), sys.stdout, indent=1, ensure_ascii=True)
    sys.stdout.write("\n")
