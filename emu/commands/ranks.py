"""Ranks on the scale of `admin_status`, and the roles that people are given by name.

Source: docs/protocol/world/commands.md#eq2emulator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

STATUS_BANNED_FOR_EVER: Final = -2
"""Status of a character that keeps its whole account out."""
STATUS_BANNED: Final = -1
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


def account_rank(statuses: Iterable[int]) -> int:
    """Return the rank of an account whose characters have these statuses: the highest of them.

    0 is a player's; below that the whole account is banned.
    """
    known = list(statuses)
    if STATUS_BANNED_FOR_EVER in known:
        return STATUS_BANNED_FOR_EVER
    return max([0, *known])
