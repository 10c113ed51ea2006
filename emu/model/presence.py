"""Who may come into the world, and who is in it."""

from __future__ import annotations

from dataclasses import dataclass


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
