from dataclasses import replace

import pytest

from emu.errors import DuplicateName
from emu.store import Store
from emu.store.worlds import MOST_ZONES
from emu.times import UNKNOWN
from emu.worlds import RegisteredWorld, ZoneDescription
from tests.support.database.stores import character


def test_a_world_is_found_by_account_and_by_name(store: Store) -> None:
    world = store.login.worlds.add(
        RegisteredWorld(0, "Antonica", "Anto", "a" * 128, "far away", enabled=False)
    )
    assert world == RegisteredWorld(2, "Antonica", "Anto", "a" * 128, "far away", enabled=False)
    assert store.login.worlds.find_by_account("ANTO") == world
    assert store.login.worlds.find("antonica") == world
    assert store.login.worlds.find("Anto") is None


@pytest.mark.parametrize(
    ("name", "account", "what"),
    [
        ("NORRATH", "new", "already a world 'NORRATH'"),
        ("New", "Norrath", "another world registers"),
    ],
)
def test_name_and_account_are_each_taken_once(
    store: Store, name: str, account: str, what: str
) -> None:
    with pytest.raises(DuplicateName, match=what):
        store.login.worlds.add(RegisteredWorld(0, name, account, ""))


def test_changes_to_a_world(store: Store) -> None:
    store.login.worlds.set_password(1, "b" * 128)
    store.login.worlds.set_enabled(1, enabled=False)
    store.login.worlds.connected(1, "192.0.2.1", "0.9.9-Nebula", 77.0)
    assert store.login.worlds.find("Norrath") == RegisteredWorld(
        1, "Norrath", "norrath", "b" * 128, enabled=False, last_address="192.0.2.1",
        login_version="0.9.9-Nebula",
    )  # fmt: skip


def test_the_latest_status_is_what_operators_see(store: Store) -> None:
    assert store.login.worlds.reports()[0].status == -4
    store.login.worlds.record_status(1, 1, 12, 3, 100.0)
    store.login.worlds.record_status(1, -2, 13, 4, 115.0)
    store.login.worlds.record_status(9, 1, 1, 1, 115.0)  # a world that was removed meanwhile
    (report,) = store.login.worlds.reports()
    assert (report.status, report.players, report.zones, report.updated) == (-2, 13, 4, 115.0)
    row = dict(store.database.connection.execute("SELECT * FROM world_overview").fetchone())
    assert (row["status"], row["players"], row["last_connected_utc"]) == (-2, 13, None)


def test_zones_are_overwritten_one_by_one(store: Store) -> None:
    store.login.worlds.set_zones(1, [ZoneDescription(9, "b", "B"), ZoneDescription(4, "a", "A")])
    store.login.worlds.set_zones(1, [ZoneDescription(9, "b", "better")])
    assert store.login.worlds.zones_of(1) == [
        ZoneDescription(4, "a", "A"),
        ZoneDescription(9, "b", "better"),
    ]
    assert store.login.worlds.zones_of(2) == []


@pytest.mark.slow
def test_a_world_cannot_describe_zones_without_end(store: Store) -> None:
    store.login.worlds.set_zones(
        1, [ZoneDescription(number, "x", "X") for number in range(MOST_ZONES + 2)]
    )
    store.login.worlds.set_zones(1, [ZoneDescription(0, "x", "still changed")])
    zones = store.login.worlds.zones_of(1)
    assert len(zones) == MOST_ZONES
    assert zones[0].description == "still changed"


def test_a_removed_world_takes_all_it_reported(store: Store) -> None:
    store.login.worlds.record_status(1, 1, 12, 3, 100.0)
    store.login.worlds.set_zones(1, [ZoneDescription(9, "b", "B")])
    store.login.characters.add(character())
    store.login.worlds.remove(1)
    assert store.login.worlds.reports() == []
    assert store.login.worlds.zones_of(1) == []
    assert store.login.characters.of_account(1) == []
    assert store.login.worlds.add(RegisteredWorld(0, "Next", "next", "")).id == 2


def test_the_built_in_world_gets_the_name_and_the_password_of_each_start(store: Store) -> None:
    worlds = store.login.worlds
    first = worlds.put_built_in("Antonica", "a" * 128, UNKNOWN)
    again = worlds.put_built_in("Everfrost", "b" * 128, UNKNOWN)
    assert again == replace(first, name="Everfrost", password="b" * 128)
    assert worlds.find("Everfrost") == again
    assert worlds.find("Antonica") is None
    with pytest.raises(DuplicateName, match="another registered world has the name"):
        worlds.put_built_in("Norrath", "c" * 128, UNKNOWN)
