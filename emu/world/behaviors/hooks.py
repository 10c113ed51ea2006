"""The hooks of behaviors: the methods that the server calls on a behavior.

This is their only list. The host calls a behavior by it, `Library` recognizes behaviors by it, and
the table of `docs/guides/zones.md` is written from it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final


class Hook(enum.Enum):
    """One method that a behavior may have: its name, its parameters, and when it is called."""

    START = "on_start", "", "the behavior starts"
    ENTER = (
        "on_enter", "visitor",
        "a player comes within `near` units; for a zone: a player enters the zone",
    )  # fmt: skip
    LEAVE = (
        "on_leave", "visitor",
        "that player goes out of reach; for a zone: the player leaves the zone",
    )  # fmt: skip
    HAIL = "on_hail", "visitor", "a player hails the spawn"
    SAY = "on_say", "visitor, text", "a player near it says something"
    CHOICE = "on_choice", "visitor, number", "a player chooses an answer of its dialog, from 1 on"
    TIMER = "on_timer", "name", "a timer that the behavior has set expires"
    TICK = "on_tick", "seconds", "every `tick` seconds while a player is in the zone"
    LOOT = (
        "on_loot", "visitor, item, count",
        "a player takes things out of the spawn's body or chest; for a zone: of any there",
    )  # fmt: skip
    TRADE = (
        "on_trade", "visitor, item, count",
        "a player gets things from the spawn or gives them, a count below 0; for a zone: any",
    )  # fmt: skip
    USE = (
        "on_use", "visitor, item",
        "a player uses a thing on the spawn; for a zone: any. The result True takes a charge",
    )  # fmt: skip
    ARRIVE = "on_arrive", "", "the spawn reaches the last point of its walk"

    def __init__(self, method: str, parameters: str, when: str) -> None:
        self.method = method
        self.parameters = parameters
        self.when = when

    @property
    def signature(self) -> str:
        """The method as it is called: ``on_say(visitor, text)``."""
        return f"{self.method}({self.parameters})"


VISITS: Final = frozenset((Hook.ENTER, Hook.LEAVE))
"""A behavior with one of these hooks looks out for players: at each tick."""


def hook_table() -> Iterator[str]:
    """Yield the lines of the Markdown table of all hooks."""
    yield "| method | the server calls it when |"
    yield "|---|---|"
    for hook in Hook:
        yield f"| `{hook.signature}` | {hook.when} |"
