"""What a character has besides itself: titles, what stands on its hotbars, channels it is in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Title:
    """A title; `is_prefix`: it is borne before the name and not behind it."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Hotkey:
    """What one slot of a hotbar holds, in the client's own numbers."""

    bar: int
    slot: int
    type: int
    """1 spell, 2 item, 3 macro, 4 command."""
    icon: int = 0
    icon_type: int = 0
    ability: int = 0
    """Number of the spell or the item."""
    tier: int = 0
    text: str = ""
    """The command, or the name of the macro."""


@dataclass(frozen=True, slots=True)
class Membership:
    """A channel of players that a character is in, and the password it was entered by."""

    channel: str
    password: str = ""
