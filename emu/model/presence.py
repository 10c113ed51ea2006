"""Who may come into the world, and who is in it."""

from __future__ import annotations

from dataclasses import dataclass

from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class Handoff:
    """Whom a hand-off key lets in."""

    account_id: int
    char_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Present:
    """One character that is in the world."""

    account_id: int
    char_id: int
    zone_id: int
    link_dead: bool = False
    name: str = ""
    level: int = 1
    class_: int = 0
    race: int = 0
    away: bool = False
    """Whether it is away from the keyboard."""
    hidden: bool = False
    """Whether only those who keep order may know that it is here."""
    process: str = ""
    """The process that it is in; filled in where it is noted."""
    since: Moment = UNKNOWN
    """When it came in or changed its zone; filled in where it is noted."""
