"""One errand of a client that plays: a place, and what is to be done there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emu.client.evening.seen import SeenSpawn
from emu.client.world.surroundings import Place
from emu.client.world.windows import QuestTask
from emu.times import Monotonic

WALK_TIME: Final = 90.0
TALK_REACH: Final = 2.0
"""How near it goes to whom it talks to: scripts hear a hail within 5, and many walk about."""
CLOSE_REACH: Final = 0.5
"""How near it goes to what it was too far away from: some verbs are for one unit."""


@dataclass(slots=True)
class Errand:
    """Somewhere to go, and what to do there."""

    place: Place
    index: int | None
    what: str
    """``talk``, ``look``, or the verb of a use."""
    task: QuestTask | None
    until: Monotonic
    choice: str = ""
    """What is to be chosen in the window of a thing."""
    has_asked: bool = False
    """Whether the verbs were asked for."""
    reach: float = TALK_REACH
    """How near it goes."""
    leaves: bool = False
    """Whether it means to go to another zone by this."""


def visit(one: SeenSpawn, what: str, now: Monotonic, task: QuestTask | None = None) -> Errand:
    """Return the errand to somebody in sight."""
    return Errand(one.place, one.index, what, task, Monotonic(now + WALK_TIME))
