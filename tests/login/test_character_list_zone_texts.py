"""Zone texts of the character list.

Sources: docs/protocol/characters.md#entry-format, docs/protocol/link.md#batches.
"""

from __future__ import annotations

from emu.login.character_list import ZoneTexts
from emu.model import Character, ZoneDescription
from tests.support.login.login_fakes import FakeStore, run

ROW = Character(1, 1, 1, 1, "Someone", zone_id=24, zone_name="exp01_rgn_butcherblock")


def texts(zones: ZoneTexts, row: Character, *, by_name: bool, now: float = 0.0) -> tuple[str, str]:
    found: list[tuple[str, str]] = []

    async def ask() -> None:
        found.append(await zones.texts(row, by_name=by_name, now=now))

    run(ask())
    return found[0]


def test_new_clients_see_the_name_and_old_ones_the_file() -> None:
    store = FakeStore()
    store.zones = [ZoneDescription(24, "Butcherblock", "Butcherblock Mountains")]
    zones = ZoneTexts(store, 60)
    assert texts(zones, ROW, by_name=True) == ("Butcherblock", "Butcherblock Mountains")
    assert texts(zones, ROW, by_name=False) == (ROW.zone_name, "Butcherblock Mountains")


def test_an_unknown_zone_shows_what_the_row_has() -> None:
    assert texts(ZoneTexts(FakeStore(), 60), ROW, by_name=True) == (ROW.zone_name, "")


def test_zones_are_read_again_when_they_are_old() -> None:
    store = FakeStore()
    zones = ZoneTexts(store, 60)
    assert texts(zones, ROW, by_name=True, now=0)[1] == ""
    store.zones = [ZoneDescription(24, "Butcherblock", "Butcherblock Mountains")]
    assert texts(zones, ROW, by_name=True, now=59.9)[1] == ""
    assert texts(zones, ROW, by_name=True, now=60)[1] == "Butcherblock Mountains"


def test_a_character_without_a_zone_asks_nothing() -> None:
    store = FakeStore()
    store.holds = True
    row = Character(1, 1, 1, 1, "Someone")
    assert texts(ZoneTexts(store, 60), row, by_name=True) == ("", "")
