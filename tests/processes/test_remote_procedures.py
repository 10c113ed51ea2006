"""The hub's remote procedures: what members may call, and who may store a character."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from emu.errors import CommandError, LimitExceeded, OutOfDate, StoreError
from emu.model import BorneTitles, CharacterStanding, EntryOrigin, Handoff, Hotkey, Title
from emu.processes import remote
from emu.processes.ports import AccountGate, WorldCharacterStore
from emu.processes.remote import (
    TOPIC,
    LeasedCharacters,
    LeasedKeys,
    Leases,
    RemoteProcedures,
    RemoteProcedureServer,
)
from emu.processes.shared import LocalBus
from tests.support.database.stores import saved_state
from tests.support.running.processes import handoff_keys
from tests.support.world.world_fakes import CharactersInMemory, world_character


class Bench:
    """A hub with a store in memory, and counters of members, on one bus."""

    def __init__(self, most: int = 100) -> None:
        self.bus = LocalBus([].append)
        self.store = CharactersInMemory()
        self.leases = Leases()
        self.keys = handoff_keys(iter(range(1, 999)).__next__, most=most)

        def port_of(name: str, process: str) -> Any:
            if name == "accounts":
                return self
            return LeasedKeys(self.keys, self.leases, process) if name == "keys" else self.store

        RemoteProcedureServer(port_of, self.leases).open(self.bus)

    async def kept_out(self, clients: Sequence[tuple[int, str]]) -> Sequence[int]:
        return [account_id for account_id, address in clients if address == "192.0.2.2"]

    def characters(self, process: str = "east") -> remote.RemoteCharacters:
        return remote.RemoteCharacters(RemoteProcedures(self.bus, process))

    def remote_keys(self, process: str = "east") -> remote.RemoteKeys:
        return remote.RemoteKeys(RemoteProcedures(self.bus, process))


async def test_members_read_and_store_the_hubs_characters() -> None:
    bench = Bench()
    characters = bench.characters()
    store: WorldCharacterStore = characters
    made = await store.create(world_character(0, name="Aldana", account_id=101))
    assert await characters.find(made.id) == bench.store.rows[made.id] == made
    assert await characters.find(999) is None
    assert await characters.find_named("ALDANA") == made
    assert await characters.of_account(101) == [made]
    state = saved_state(
        made, relations=((0, "Borvik"),), hotkeys=(Hotkey(1, 2, 4, text="hail"),), channels=(),
        titles=BorneTitles(given=(Title("of the Isle"),), suffix="of the Isle"),
        last_played=5.0,
    )  # fmt: skip
    await characters.save_character(made.id, state)
    assert bench.store.saves == [state]
    await characters.mute_account(made.account_id, 6.0)
    await characters.set_admin_status(made.id, 100)
    assert await characters.standings([made.id, 999]) == [
        CharacterStanding(made.id, "Aldana", 100, 6.0)
    ]
    await characters.mute_account(made.account_id, -math.inf)
    assert bench.store.rows[made.id].muted_until == -math.inf
    assert bench.store.rows[made.id].place == state.place
    assert bench.store.rows[made.id].admin_status == 100
    with pytest.raises(OutOfDate):
        await characters.save_character(made.id, state)
    assert await characters.delete(101, made.id)
    assert await characters.of_account(101) == []


async def test_members_ask_the_hub_whom_the_login_service_keeps_out() -> None:
    bench = Bench()
    gate: AccountGate = remote.RemoteAccountGate(RemoteProcedures(bench.bus, "east"))
    assert await gate.kept_out([(7, "192.0.2.1"), (8, "192.0.2.2")]) == [8]


async def test_a_key_says_where_its_character_comes_from() -> None:
    bench = Bench()
    keys = bench.remote_keys()
    first = await keys.issue(1, 1, "Aldana")
    second = await keys.issue(2, 2, "Borvik", 100, EntryOrigin.ZONE_HIDDEN)
    third = await keys.issue(3, 3, "Cenwyn", 10)
    await keys.withdraw_entries(10)
    assert await keys.redeem(1, first) is None
    found = await keys.redeem(2, second)
    assert found == Handoff(2, 2, "Borvik", 100, EntryOrigin.ZONE_HIDDEN)
    assert (found.is_zoning, found.hidden) == (True, True)
    assert await keys.redeem(3, third) == Handoff(3, 3, "Cenwyn", 10, EntryOrigin.LOGIN)


async def test_what_the_hub_cannot_do_is_a_store_error_with_its_words() -> None:
    bench = Bench(most=1)
    await bench.characters().create(world_character(0, name="Aldana"))
    with pytest.raises(StoreError, match="aldana"):
        await bench.characters().create(world_character(0, name="aldana"))
    keys = bench.remote_keys()
    await keys.issue(1, 1, "Aldana")
    with pytest.raises(LimitExceeded, match="too many hand-off keys"):
        await keys.issue(2, 2, "Borvik")
    nobody = remote.RemoteCharacters(RemoteProcedures(LocalBus([].append), "east"))
    with pytest.raises(StoreError, match="the hub cannot be reached now"):
        await nobody.find(1)


async def test_only_who_plays_a_character_may_store_it() -> None:
    bench = Bench()
    made = await bench.characters().create(world_character(0, account_id=101))
    hub = LeasedCharacters(bench.store, bench.leases, "hub")
    await bench.characters("east").save_character(made.id, saved_state(made, 1))
    with pytest.raises(OutOfDate):
        await bench.characters("west").save_character(made.id, saved_state(made, 2))
    with pytest.raises(OutOfDate):
        await hub.save_character(made.id, saved_state(made, 2))
    key = await bench.remote_keys("east").issue(101, made.id, "Aldana")
    assert await bench.remote_keys("west").redeem(102, key) is None
    await bench.characters("east").save_character(made.id, saved_state(made, 2))
    assert await bench.remote_keys("west").redeem(101, key) is not None
    with pytest.raises(OutOfDate):
        await bench.characters("east").save_character(made.id, saved_state(made, 3))
    await bench.characters("west").save_character(made.id, saved_state(made, 3, zone_id=33))
    assert bench.store.rows[made.id].zone_id == 33
    bench.leases.take(made.id, "hub")
    await hub.save_character(made.id, saved_state(made, 4, zone_id=34))
    assert bench.store.rows[made.id].zone_id == 34


@pytest.mark.parametrize(
    ("call", "arguments"),
    [("keys.steal", "[]"), ("characters.find", "{}"), ("characters.find", "[1,2]"),
     ("characters.find", "x"), ("__class__", "[]")],
)  # fmt: skip
async def test_calls_that_are_none(call: str, arguments: str) -> None:
    bench = Bench()
    with pytest.raises(CommandError):
        await bench.bus.request(TOPIC, {"process": "east", "call": call, "arguments": arguments})
