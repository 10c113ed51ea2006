"""Things that stand in houses, as scripts have them.

The script of a thing's kind hears that it is placed, and may give its spawn a script of its own.
Nothing of that is stored: the script of the kind is called again when the house is opened anew.
Source: docs/guides/houses.md#scripts.
"""

from __future__ import annotations

from collections.abc import Callable

from emu.world.events import Events, Order
from emu.world.item_events import FurnitureGone, FurnitureStands
from emu.world.scripts.bodies import Body, FurnitureFacts, Homes
from emu.world.scripts.item_events import ItemEvents


class FurnitureScripts:
    """Lets scripts know the things in houses."""

    def __init__(
        self, homes: Homes, items: ItemEvents, events: Events, forget: Callable[[Body], object]
    ) -> None:  # fmt: skip
        """`forget` ends what a spawn that is gone has of scripts."""
        self._homes = homes
        self._items = items
        self._forget = forget
        events.subscribe(FurnitureStands, self._stands, Order.MINDS)
        events.subscribe(FurnitureGone, self._gone, Order.MINDS)

    def _stands(self, event: FurnitureStands) -> None:
        home = self._homes.of(event.zone)
        body = Body(event.spawn, home)
        home.add_body(body)
        home.furniture[event.spawn.id] = FurnitureFacts(event.kind.id)
        self._items.placed(event.player, event.thing, event.kind, body)

    def _gone(self, event: FurnitureGone) -> None:
        home = self._homes.get(event.zone)
        body = home.bodies.get(event.spawn.id) if home is not None else None
        if home is not None and body is not None:
            home.furniture.pop(event.spawn.id, None)
            self._forget(body)
