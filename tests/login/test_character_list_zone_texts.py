"""Zone texts of the character list.

Sources: docs/protocol/characters.md#entry-format, docs/protocol/link.md#batches.
"""

from __future__ import annotations

from emu.login.character_list import ZoneTexts
from emu.model import Character
from emu.worlds import ZoneDescription
from tests.support.login.login_fakes import FakeStore, run
from tests.support.times import ManualClock

ROW = Character(1, 1, 1, 1, "Someone", zone_id=24, zone_name="exp01_rgn_butcherblock")


def texts(zones: ZoneTexts, row: Character, *, by_name: bool) -> tuple[str, str]:
    found: list[tuple[str, str]] = []

    async def ask() -> None:
        found.append(await zones.texts(row, by_name=by_name))

    run(ask())
    return found[0]


def test_new_clients_see_the_name_and_old_ones_the_file() -> None:
    store = FakeStore()
    store.zones = [ZoneDescription(24, "Butcherblock", "Butcherblock Mountains")]
    zones = ZoneTexts(store, 60, ManualClock(0.0))
    assert texts(zones, ROW, by_name=True) == ("Butcherblock", "Butcherblock Mountains")
    assert texts(zones, ROW, by_name=False) == (ROW.zone_name, "Butcherblock Mountains")


def test_an_unknown_zone_shows_what_the_row_has() -> None:
    assert texts(ZoneTexts(FakeStore(), 60, ManualClock(0.0)), ROW, by_name=True) == (
        ROW.zone_name,
        "",
    )


def test_zones_are_read_again_when_they_are_old() -> None:
    store, clock = FakeStore(), ManualClock(0.0)
    zones = ZoneTexts(store, 60, clock)
    assert texts(zones, ROW, by_name=True)[1] == ""
    store.zones = [ZoneDescription(24, "Butcherblock", "Butcherblock Mountains")]
    clock.seconds = 59.9
    assert texts(zones, ROW, by_name=True)[1] == ""
    clock.seconds = 60.0
    assert texts(zones, ROW, by_name=True)[1] == "Butcherblock Mountains"


def test_zones_are_kept_from_the_time_when_they_were_read() -> None:
    clock = ManualClock(0.0)

    class SlowSource:
        reads = 0

        async def zones_of(self, _world_id: int) -> list[ZoneDescription]:
            self.reads += 1
            clock.seconds += 50.0
            return []

    source = SlowSource()
    zones = ZoneTexts(source, 60, clock)
    texts(zones, ROW, by_name=True)
    clock.seconds = 100.0
    texts(zones, ROW, by_name=True)
    assert source.reads == 1


def test_a_character_without_a_zone_asks_nothing() -> None:
    store = FakeStore()
    store.holds = True
    row = Character(1, 1, 1, 1, "Someone")
    assert texts(ZoneTexts(store, 60, ManualClock(0.0)), row, by_name=True) == ("", "")
