"""The things that a client that plays places in its house, because a task wants that.

It places the newest piece of furniture, by the window that the server opens. What cannot be placed,
for instance a stand-in without a model, it destroys: such tasks see only that the thing is no
longer carried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.client.evening.visits import LONG_AGO
from emu.client.world import WorldClientCore
from emu.client.world.events import WorldEvent, ZoneToLoad
from emu.client.world.possessions import HELD, PLACEABLE, Owned
from emu.client.world.windows import HouseShown, PlaceAsked
from emu.times import Monotonic

PLACED_AGAIN: Final = 60.0
"""Until it takes another thing for a task that wants one placed."""
OPENS: Final = 6.0
"""How long it waits for the window of a thing that it wants to place."""


class Placing:
    """The furniture of one player."""

    def __init__(self, core: WorldClientCore, note: Callable[[str, str], None]) -> None:
        self._core = core
        self._note = note
        self._placed: dict[str, Monotonic] = {}
        """When it parted with a thing for a task, by the text of the task."""
        self._asked: tuple[int, Monotonic] | None = None
        """The thing that it wants to place, by its unique number, and since when."""
        self._enters_house = self._is_in_house = False

    def handle_event(self, event: WorldEvent) -> None:
        """Note when it comes into its house, and when a thing can be placed."""
        match event:
            case HouseShown(_, _, is_inside):
                self._enters_house = not is_inside
                self._is_in_house = is_inside
            case ZoneToLoad():
                self._is_in_house, self._enters_house = self._enters_house, False
                self._asked = None
            case PlaceAsked():
                self._asked = None
            case _:
                pass

    def place_newest(self, text: str, now: Monotonic) -> None:
        """Place the newest thing for a task with this text, if it is in its house.

        A task that stays open meant another thing, for instance one that came after it.
        """
        if self._asked is not None and now >= self._asked[1] + OPENS:
            self._destroy(self._asked[0])
            self._asked = None
        if not self._is_in_house or now < self._placed.get(text, LONG_AGO) + PLACED_AGAIN:
            return
        self._placed[text] = now
        things = self._carried()
        furniture = [one for one in things if one.menu & PLACEABLE]
        newest = max(furniture or things, key=lambda one: one.unique, default=None)
        if newest is None:
            return
        if not furniture:
            self._destroy(newest.unique)
            return
        self._note("place", newest.name)
        self._asked = newest.unique, now
        self._core.command(f"place_house_item {newest.unique}")

    def _destroy(self, unique: int) -> None:
        """Throw a thing away, if it is still carried."""
        for one in self._carried():
            if one.unique == unique:
                self._note("drop", one.name)
                self._core.command(f"inventory destroy {one.place}")

    def _carried(self) -> list[Owned]:
        owned = self._core.possessions
        return owned.things(HELD) if owned is not None else []
