"""Ranks on the scale of `admin_status`, and the roles that people are given by name.

Source: docs/protocol/world/commands.md#eq2emulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GUIDE: Final = 10
MASTER: Final = 100
ADMINISTRATOR: Final = 200
OWNER: Final = 1000
"""Whoever holds the machine itself; above every character's."""

ROLES: Final[Mapping[str, int]] = {
    "guide": GUIDE,
    "master": MASTER,
    "administrator": ADMINISTRATOR,
}
"""Roles of those who are no characters, by the rank each has."""
