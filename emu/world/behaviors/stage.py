"""What actors stand on: the world and its chat, and what behaviors have under way there."""

from __future__ import annotations

from collections.abc import Callable

from emu.times import Monotonic
from emu.world.behaviors.dialogs import Dialogs
from emu.world.behaviors.part import Limits, Part
from emu.world.chat import Chat
from emu.world.deadlines import Deadlines
from emu.world.world import World


class Stage:
    """What all actors of a world share; behaviors themselves never see it."""

    def __init__(self, world: World, chat: Chat, limits: Limits, wake: Callable[[], None]) -> None:
        """`wake` asks for the timer again."""
        self.world = world
        self.chat = chat
        self.limits = limits
        self.now = Monotonic(0.0)
        self.deadlines: Deadlines[Part] = Deadlines()
        self.dialogs = Dialogs(limits.text)
        self._wake = wake

    def arm(self, part: Part, what: str, seconds: float) -> None:
        """Set or move one of a behavior's deadlines."""
        self.deadlines.set(part, what, Monotonic(self.now + seconds))
        self._wake()
