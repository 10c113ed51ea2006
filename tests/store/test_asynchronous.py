"""The asynchronous interface passes all arguments to the repositories in the right order."""

from collections.abc import Awaitable, Callable, Coroutine
from itertools import count
from typing import Any, TypeVar

import pytest
from twisted.internet.defer import Deferred

from emu.errors import DuplicateName
from emu.login.ports import AccountStore, CharacterStore, LogStore, RegisteredWorlds
from emu.model import ClientLog, Equipment
from emu.processes.ports import AccountGate
from emu.store import BannedAddress, Store
from emu.store.asynchronous import (
    BANS_KEPT,
    AsyncAccountAdministration,
    AsyncAccountGate,
    AsyncAccounts,
    AsyncBans,
    AsyncCharacters,
    AsyncReports,
    AsyncRoster,
    AsyncWorlds,
    Run,
    StoreConnections,
)
from emu.store.asynchronous_world import AsyncWorldCharacters
from emu.store.row_cache import StoreCache
from emu.times import Moment, Monotonic
from emu.worlds import RegisteredWorld, ZoneDescription
from tests.support.coroutines import finish
from tests.support.database.stores import character, run_inline, saved_state, world_character
from tests.support.times import ManualClock

T = TypeVar("T")


def ways_of(store: Store) -> StoreConnections:
    """Ways of one connection that remember nothing: others write by it as well."""
    memory = StoreCache(count().__next__, Deferred, 100)
    return StoreConnections(store, run_inline, store, run_inline, run_inline, run_inline, memory)


@pytest.fixture
def ways(store: Store) -> StoreConnections:
    return ways_of(store)


def test_accounts(store: Store, ways: StoreConnections) -> None:
    port: AccountStore = AsyncAccounts(ways)
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


def test_characters(store: Store, ways: StoreConnections) -> None:
    port: CharacterStore = AsyncCharacters(ways, lambda one: one.login.characters)
    added = finish(port.add_character(character()))
    assert finish(port.characters_of(1)) == [added]
    assert finish(port.update_character(1, 1, 7, {"level": 40}))
    finish(port.set_equipment(1, [(7, Equipment(2, 33))]))
    (changed,) = store.login.characters.of_account(1)
    assert changed.level == 40
    assert [item.model for item in changed.equipment] == [33, 900]
    assert finish(port.delete_character(1, 1, 7, "Ayla"))
    assert finish(port.characters_of(1)) == []


def test_worlds(store: Store, ways: StoreConnections) -> None:
    port: RegisteredWorlds = AsyncWorlds(ways, lambda one: one.login.worlds)
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


def test_reports(store: Store, ways: StoreConnections) -> None:
    port: LogStore = AsyncReports(ways, lambda one: one.login.reports)
    log = ClientLog("Base Log", "t", 1, "Alice", "::1", 546, 3.0)
    finish(port.add_client_log(log))
    finish(port.add_bug_report(1, 8, {"summary": "stuck"}, 4.0))
    assert store.login.reports.client_logs() == [log]
    row = store.database.connection.execute("SELECT * FROM bug_reports").fetchone()
    assert (row["world_id"], row["account_id"], row["summary"], row["received"]) == (
        1, 8, "stuck", 4.0,
    )  # fmt: skip


def test_bans_count_from_the_moment_they_are_stored(store: Store, ways: StoreConnections) -> None:
    front = AsyncBans(ways)

    def banned(address: str, moment: float) -> bool:
        return finish(front.is_address_banned(address, Moment(moment)))

    assert not banned("192.0.2.9", 100.0)
    store.login.bans.add(BannedAddress("192.0.2.9", until=108.0))
    store.login.bans.add(BannedAddress("10.0"))
    assert banned("192.0.2.9", 101.0)
    assert banned("10.0.255.1", 101.0)
    assert not banned("10.1.0.1", 101.0)
    assert not banned("192.0.2.9", 108.0)
    store.login.bans.lift("10.0")
    assert not banned("10.0.255.1", 110.0)


def test_bans_that_nothing_shows_are_read_again_soon(store: Store, ways: StoreConnections) -> None:
    now = [5.0]
    bans = AsyncBans(ways, lambda: Monotonic(now[0]))
    assert not finish(bans.is_address_banned("192.0.2.9", Moment(1.0)))
    store.login.bans.add(BannedAddress("192.0.2.9"))
    now[0] += 0.9 * BANS_KEPT
    assert not finish(bans.is_address_banned("192.0.2.9", Moment(1.0)))
    now[0] += 0.2 * BANS_KEPT
    assert finish(bans.is_address_banned("192.0.2.9", Moment(1.0)))


@pytest.mark.parametrize("knows_accounts", [True, False])
def test_the_gate_knows_accounts_and_addresses(
    store: Store, ways: StoreConnections, knows_accounts: bool
) -> None:
    bob = store.login.accounts.add("Bob", "hash", 3.0)
    store.login.bans.add(BannedAddress("192.0.2"))
    clock = ManualClock()
    bans = AsyncBans(ways)
    gate: AccountGate = AsyncAccountGate(ways, bans, clock, knows_accounts=knows_accounts)
    clients = [(1, "127.0.0.1"), (bob.id, "127.0.0.1"), (77, "127.0.0.1"), (78, "192.0.2.1")]
    assert finish(gate.kept_out(clients)) == ([77, 78] if knows_accounts else [78])
    store.login.accounts.set_enabled(bob.id, enabled=False)
    assert (bob.id in finish(gate.kept_out(clients))) is knows_accounts
    assert finish(gate.kept_out([])) == []


def test_every_call_goes_its_own_way(store: Store) -> None:
    taken: list[str] = []

    def way(name: str) -> Run:
        def run(call: Callable[[], T]) -> Awaitable[T]:
            taken.append(name)
            return run_inline(call)

        return run

    with Store.open_for_reading(store.where) as seen:
        memory = StoreCache(lambda: 0, Deferred, 100)
        ways = StoreConnections(
            seen, way("read"), store, way("write"), way("later"), way("kept"), memory
        )
        accounts = AsyncAccounts(ways)
        characters = AsyncCharacters(ways, lambda one: one.login.characters)
        worlds = AsyncWorlds(ways, lambda one: one.login.worlds)
        owned = AsyncWorldCharacters(ways, lambda one: one.world.characters)
        with store.transaction():
            finish(accounts.add_account("Bob", "hash", 3.0))
            made = finish(owned.create(world_character()))
            assert finish(accounts.find_account("Bob")) is None  # not committed yet
            assert finish(owned.of_account(1)) == []
        owned.cache.forget_all()
        bob = finish(accounts.find_account("Bob"))
        assert bob is not None
        assert finish(owned.of_account(1)) == [made]
        assert taken == ["write", "write", "read", "read", "read", "read"]
        del taken[:]
        finish(characters.characters_of(1))
        finish(AsyncBans(ways).is_address_banned("192.0.2.1", Moment(1.0)))
        assert taken == ["read", "read"]
        for _ in range(3):
            assert finish(accounts.find_account("BOB")) == bob
            assert finish(owned.of_account(1)) == [made]
            finish(characters.characters_of(1))
            finish(AsyncBans(ways).is_address_banned("192.0.2.1", Moment(1.0)))
        assert len(taken) == 2, "what a player who comes back waits for asks no thread"
        finish(worlds.zones_of(1))
        finish(worlds.find_world_by_account("norrath"))
        finish(worlds.record_status(1, 1, 0, 0, 3.0))
        finish(accounts.record_login(bob.id, "192.0.2.7", 546, 9.0))
        finish(owned.save_character(made.id, saved_state(made)))
        assert taken[2:] == ["read", "read", "kept", "later", "later"]


def test_each_write_forgets_what_it_makes_wrong(store: Store) -> None:
    memory = StoreCache(lambda: 0, Deferred, 100)
    ways = StoreConnections(store, run_inline, store, run_inline, run_inline, run_inline, memory)
    accounts, roster = AsyncAccounts(ways), AsyncRoster(ways, lambda one: one.roster)
    staff = AsyncAccountAdministration(ways, lambda one: one.login.accounts)
    listed = AsyncCharacters(ways, lambda one: one.login.characters)
    owned = AsyncWorldCharacters(ways, lambda one: one.world.characters)
    made, own = character(), finish(owned.create(world_character()))
    steps: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: accounts.set_password(1, "new"),
        lambda: accounts.record_login(1, "192.0.2.7", 546, 9.0),
        lambda: staff.set_enabled(1, enabled=False),
        lambda: staff.ban(1, Moment(5.0), "why"),
        lambda: listed.add_character(made),
        lambda: listed.update_character(1, 1, 7, {"level": 40}),
        lambda: listed.set_equipment(1, [(7, Equipment(2, 33))]),
        lambda: owned.save_character(own.id, saved_state(own, 1)),
        lambda: owned.set_admin_status(own.id, 100),
        lambda: listed.delete_character(1, 1, 7, "Ayla"),
        lambda: owned.delete(1, own.id),
        lambda: roster.restore(finish(roster.every())[0]),
        lambda: owned.create(world_character(name="Borvik")),
    ]
    for step in steps:
        before = finish(accounts.find_account("alice"))
        assert before is not None
        finish(listed.characters_of(1))
        finish(owned.of_account(1))
        finish(step())
        assert finish(accounts.find_account("alice")) == store.login.accounts.find("alice")
        assert finish(listed.characters_of(1)) == store.login.characters.of_account(1)
        assert finish(owned.of_account(1)) == store.world.characters.of_account(1)
