"""The furniture that a player places in its house: the newest one first."""

from __future__ import annotations

from emu.client.evening.placing import OPENS, PLACED_AGAIN, Placing
from emu.client.world.events import ZoneToLoad
from emu.client.world.possessions import PLACEABLE, Owned
from emu.client.world.windows import HouseShown, PlaceAsked
from emu.times import Monotonic
from emu.world.actors.item_lists import Menu
from tests.client.evening.conftest import NotingClient

NOW = Monotonic(1000.0)
TASK = 'Open your inventory. "Place" your new table.'


class Bags:
    """Possessions with some things, without those that were destroyed."""

    def __init__(self, core: NotingClient, *menus: int) -> None:
        self._core = core
        self._menus = menus

    def things(self, _which: int = 0) -> list[Owned]:
        return [
            Owned(at, 70 + at, 1414, f"thing {at}", 1, 0, at, menu)
            for at, menu in enumerate(self._menus)
            if f"command inventory destroy {at}" not in self._core.asked
        ]


def at_home(core: NotingClient, *menus: int) -> Placing:
    """Return somebody who has entered its house with some things."""
    core.possessions = Bags(core, *menus)
    one = Placing(core, lambda _kind, _text: None)  # type: ignore[arg-type]
    one.handle_event(HouseShown(9, "an inn", False))
    one.handle_event(ZoneToLoad("qey_ph_1r01", "an inn", "Aldana", 0.0, 0.0, 0.0))
    return one


def later(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


def test_the_bit_of_the_menu_is_that_of_the_server() -> None:
    assert PLACEABLE & Menu.FURNITURE


def test_it_places_the_newest_furniture_and_another_one_if_the_task_stays_open(
    core: NotingClient,
) -> None:
    one = at_home(core, PLACEABLE, PLACEABLE, 0)
    one.place_newest(TASK, NOW)
    one.handle_event(PlaceAsked(5))
    one.place_newest(TASK, later(PLACED_AGAIN - 1.0))
    assert core.asked == ["command place_house_item 71"]
    core.possessions = Bags(core, PLACEABLE)
    one.place_newest(TASK, later(PLACED_AGAIN))
    assert core.asked[1:] == ["command place_house_item 70"]


def test_it_destroys_what_cannot_be_placed(core: NotingClient) -> None:
    one = at_home(core, 0, PLACEABLE)
    one.place_newest(TASK, NOW)
    one.place_newest(TASK, later(OPENS))
    assert core.asked == ["command place_house_item 71", "command inventory destroy 1"]
    one.place_newest(TASK, later(PLACED_AGAIN))
    assert core.asked[2:] == ["command inventory destroy 0"], "a stand-in may be no furniture"


def test_it_places_nothing_outside_of_a_house(core: NotingClient) -> None:
    one = at_home(core, PLACEABLE)
    one.handle_event(ZoneToLoad("qey_village01", "Nettleville", "Aldana", 0.0, 0.0, 0.0))
    one.place_newest(TASK, NOW)
    assert core.asked == []
    one.handle_event(HouseShown(9, "an inn", True))
    one.place_newest(TASK, NOW)
    assert core.asked == ["command place_house_item 70"], "the window says that it is inside"
