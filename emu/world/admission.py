"""May this character come in now? The world's answer to a play request, without doing anything.

Source: eq2-world.md 1.1 for the order of the questions, eq2-login.md 5.5 for the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from emu.world.ports import WorldCharacter

PROBLEM = 0
SUCCESS = 1
CHARACTER_NOT_LOADED = 5
ACCOUNT_IN_USE = 7
LOADING_ERROR = 10
BANNED = 18
WORLD_FULL = 253
"""-3 in the byte that the reply has for it."""

STATUS_BANNED = -1
STATUS_BANNED_FOR_EVER = -2


class Presence(Protocol):
    """Who is in the world now."""

    @property
    def players(self) -> int:
        """Players that are in the world."""

    @property
    def zones(self) -> int:
        """Zones that are running."""

    def is_playing(self, account_id: int) -> bool:
        """Say whether the account has a client in the world that is not link-dead."""

    def dismiss(self, char_id: int) -> None:
        """Send a character away that no longer exists."""


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Who gets past a locked door or into a full world; statuses are `admin_status`."""

    game_master: int = 100
    """From here on an account may come in twice."""
    locked_override: int = 10
    full_override: int = 100
    max_players: int = -1
    """Players at once; negative is no limit."""


def decide(
    characters: Sequence[WorldCharacter],
    char_id: int,
    presence: Presence,
    rules: AdmissionRules,
    *,
    locked: bool,
) -> int:
    """Return the play reply code for one of an account's `characters`."""
    if any(row.admin_status == STATUS_BANNED_FOR_EVER for row in characters):
        return BANNED
    character = next((row for row in characters if row.id == char_id), None)
    if character is None:
        return CHARACTER_NOT_LOADED
    status = character.admin_status
    if status == STATUS_BANNED:
        return BANNED
    if status < 0:
        return PROBLEM
    if status < rules.game_master and presence.is_playing(character.account_id):
        return ACCOUNT_IN_USE
    if locked:
        return SUCCESS if status >= rules.locked_override else PROBLEM
    if is_full(presence, rules) and status < rules.full_override:
        return WORLD_FULL
    return SUCCESS


def is_full(presence: Presence, rules: AdmissionRules) -> bool:
    """Say whether the world has as many players as it may."""
    return 0 <= rules.max_players <= presence.players
