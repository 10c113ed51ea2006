"""The awaitable face passes everything on; a wrong order of arguments would show here."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import TypeVar

import pytest

from emu.errors import DuplicateName, StoreLocked
from emu.login.ports import AccountStore, CharacterStore, LogStore, RegisteredWorlds
from emu.model import (
    ClientLog,
    Equipment,
    Hotkey,
    Membership,
    RegisteredWorld,
    Title,
    ZoneDescription,
)
from emu.processes.stores import BelongingsStore, ModelSource, WorldCharacterStore
from emu.store import BannedAddress, Store
from emu.store.front import (
    AccountFront,
    BanFront,
    BelongingsFront,
    CharacterFront,
    ModelFront,
    ReportFront,
    Run,
    Ways,
    WorldCharacterFront,
    WorldFront,
)
from tests.support.coroutines import finish
from tests.support.database.stores import character, run_inline, world_character
from tests.support.times import ManualClock

T = TypeVar("T")


@pytest.fixture
def ways(store: Store) -> Ways:
    return Ways(store, store, run_inline, store, run_inline, run_inline)


def test_accounts(store: Store, ways: Ways) -> None:
    port: AccountStore = AccountFront(ways, lambda one: one.login.accounts)
    assert finish(port.add_account("Bob", "hash", 3.0)) == store.login.accounts.find("Bob")
    with pytest.raises(DuplicateName):
        finish(port.add_account("bob", "hash", 3.0))
    assert finish(port.set_password(2, "new", "hash"))
    assert not finish(port.set_password(2, "newer", "hash"))
    finish(port.record_login(2, "192.0.2.7", 546, 9.0))
    bob = finish(port.find_account("BOB"))
    assert bob is not None
    assert (bob.password, bob.last_address, bob.last_client_version, bob.last_login) == (
        "new", "192.0.2.7", 546, 9.0,
    )  # fmt: skip


def test_characters(store: Store, ways: Ways) -> None:
    port: CharacterStore = CharacterFront(ways, lambda one: one.login.characters)
    added = finish(port.add_character(character()))
    assert finish(port.characters_of(1)) == [added]
    assert finish(port.update_character(1, 1, 7, {"level": 40}))
    finish(port.set_equipment(1, [(7, Equipment(2, 33))]))
    (changed,) = store.login.characters.of_account(1)
    assert changed.level == 40
    assert [item.model for item in changed.equipment] == [33, 900]
    assert finish(port.delete_character(1, 1, 7, "Ayla"))
    assert finish(port.characters_of(1)) == []


def test_worlds(store: Store, ways: Ways) -> None:
    port: RegisteredWorlds = WorldFront(ways, lambda one: one.login.worlds)
    added = finish(port.add_world(RegisteredWorld(0, "Far", "far", "c" * 128), 50.0))
    assert added == RegisteredWorld(2, "Far", "far", "c" * 128)
    assert finish(port.find_world_by_account("FAR")) == added
    finish(port.world_connected(2, "192.0.2.9", "0.9.9", 60.0))
    finish(port.record_status(2, 1, 30, 4, 61.0))
    report = store.login.worlds.reports()[1]
    assert (report.created, report.last_connected, report.updated) == (50.0, 60.0, 61.0)
    assert (report.status, report.players, report.zones) == (1, 30, 4)
    assert (report.world.last_address, report.world.login_version) == ("192.0.2.9", "0.9.9")
    zones = [ZoneDescription(1, "a", "A")]
    finish(port.set_zones(2, zones))
    assert finish(port.zones_of(2)) == zones


def test_reports(store: Store, ways: Ways) -> None:
    port: LogStore = ReportFront(ways, lambda one: one.login.reports)
    log = ClientLog("Base Log", "t", 1, "Alice", "::1", 546, 3.0)
    finish(port.add_client_log(log))
    finish(port.add_bug_report(1, 8, {"summary": "stuck"}, 4.0))
    assert store.login.reports.client_logs() == [log]
    row = store.database.connection.execute("SELECT * FROM bug_reports").fetchone()
    assert (row["world_id"], row["account_id"], row["summary"], row["received"]) == (
        1, 8, "stuck", 4.0,
    )  # fmt: skip


def test_models(store: Store, ways: Ways) -> None:
    port: ModelSource = ModelFront(ways, lambda one: one.login.models)
    store.login.models.add("hair/a", 5)
    assert finish(port.model_numbers(["hair/a", "hair/b"])) == {"hair/a": 5}


def test_world_characters(ways: Ways) -> None:
    port: WorldCharacterStore = WorldCharacterFront(ways, lambda one: one.world.characters)
    added = finish(port.create(world_character()))
    finish(port.played(added.id, 77.0))
    found = finish(port.find(added.id))
    assert found is not None
    assert found.last_played == 77.0
    assert finish(port.of_account(1)) == [found]
    assert not finish(port.delete(2, added.id))
    assert finish(port.delete(1, added.id))


def test_bans_are_read_now_and_then(store: Store, ways: Ways) -> None:
    clock = ManualClock()
    front = BanFront(ways, clock)

    def banned(address: str, seconds: float) -> bool:
        clock.seconds = seconds
        return finish(front.is_address_banned(address, seconds))

    assert not banned("192.0.2.9", 100.0)
    store.login.bans.add(BannedAddress("192.0.2.9", until=108.0))
    store.login.bans.add(BannedAddress("10.0"))
    assert not banned("192.0.2.9", 100.9)
    assert banned("192.0.2.9", 101.0)
    assert banned("10.0.255.1", 101.0)
    assert not banned("10.1.0.1", 101.0)
    assert not banned("192.0.2.9", 108.0)
    store.login.bans.lift("10.0")
    assert not banned("10.0.255.1", 110.0)


def test_every_call_goes_its_own_way(store: Store) -> None:
    taken: list[str] = []

    def way(name: str) -> Run:
        def run(call: Callable[[], T]) -> Awaitable[T]:
            taken.append(name)
            return run_inline(call)

        return run

    with Store.look(store.path) as here, Store.look(store.path) as seen:
        ways = Ways(here, seen, way("read"), store, way("write"), way("later"))
        accounts = AccountFront(ways, lambda one: one.login.accounts)
        worlds = WorldFront(ways, lambda one: one.login.worlds)
        owned = WorldCharacterFront(ways, lambda one: one.world.characters)
        with store.transaction():
            finish(accounts.add_account("Bob", "hash", 3.0))
            made = finish(owned.create(world_character()))
            assert finish(accounts.find_account("Bob")) is None  # not committed yet
            assert finish(owned.find(made.id)) is None
        assert finish(accounts.find_account("Bob")) is not None
        assert finish(owned.find(made.id)) == made
        assert taken == ["write", "write"]
        finish(CharacterFront(ways, lambda one: one.login.characters).characters_of(1))
        finish(BanFront(ways, ManualClock()).is_address_banned("192.0.2.1", 1.0))
        finish(owned.of_account(1))
        assert len(taken) == 2, "what a player who comes back waits for asks no thread"
        finish(worlds.zones_of(1))
        finish(worlds.find_world_by_account("norrath"))
        assert taken[2:] == ["read", "read"]
        finish(accounts.record_login(2, "192.0.2.7", 546, 9.0))
        finish(owned.played(made.id, 9.0))
        assert taken[4:] == ["later", "write"]


def test_what_cannot_be_read_at_once_is_read_in_its_thread(store: Store) -> None:
    path = store.path.with_name("rollback.sqlite")
    with closing(sqlite3.connect(path)) as plain:
        store.database.connection.backup(plain)
        plain.execute("PRAGMA journal_mode = DELETE")
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        Store.look(path, wait=0.0) as here,
    ):
        ways = Ways(here, store, run_inline, store, run_inline, run_inline)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        found = finish(AccountFront(ways, lambda one: one.login.accounts).find_account("alice"))
        assert found is not None
        with pytest.raises(StoreLocked):
            here.login.accounts.find("alice")


def test_belongings(store: Store, ways: Ways) -> None:
    made = store.world.characters.create(world_character())
    port: BelongingsStore = BelongingsFront(ways, lambda one: one.world.belongings)
    finish(port.save_relations(made.id, [(0, "Borvik")]))
    finish(port.save_titles(made.id, [Title("Sir", is_prefix=True)], "Sir", ""))
    finish(port.save_hotkeys(made.id, [Hotkey(1, 2, 4, text="hail")]))
    finish(port.save_channels(made.id, [Membership("Crafts", "secret")]))
    found = store.world.characters.find(made.id)
    assert found is not None
    assert (found.relations, found.prefix) == (((0, "Borvik"),), "Sir")
    assert found.hotkeys == (Hotkey(1, 2, 4, text="hail"),)
    assert found.channels == (Membership("Crafts", "secret"),)
