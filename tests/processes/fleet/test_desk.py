"""The hub's desk: what members may ask of it, and who may store a character."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import CommandError, LimitExceeded, OutOfDate, StoreError
from emu.model import Membership, Title
from emu.processes.bus import LocalBus
from emu.processes.fleet import remote
from emu.processes.fleet.desk import Desk
from emu.processes.fleet.leases import LeasedKeys, Leases
from emu.processes.fleet.remote import TOPIC, Counter
from emu.processes.stores import BelongingsStore, WorldCharacterStore
from tests.support.running.processes import handoff_keys
from tests.support.world.world_fakes import CharactersInMemory, world_character


class Bench:
    """A hub with a store in memory, and counters of members, on one bus."""

    def __init__(self, most: int = 100) -> None:
        self.bus = LocalBus([].append)
        self.store = CharactersInMemory()
        self.leases = Leases()
        self.keys = handoff_keys(iter(range(1, 999)).__next__, most=most)

        def room(name: str, process: str) -> Any:
            return LeasedKeys(self.keys, self.leases, process) if name == "keys" else self.store

        Desk(room, self.leases).open(self.bus)

    def characters(self, process: str = "east") -> remote.RemoteCharacters:
        return remote.RemoteCharacters(Counter(self.bus, process))

    def belongings(self, process: str = "east") -> remote.RemoteBelongings:
        return remote.RemoteBelongings(Counter(self.bus, process))

    def remote_keys(self, process: str = "east") -> remote.RemoteKeys:
        return remote.RemoteKeys(Counter(self.bus, process))


async def test_members_read_and_store_the_hubs_characters() -> None:
    bench = Bench()
    characters, belongings = bench.characters(), bench.belongings()
    store: WorldCharacterStore = characters
    made = await store.create(world_character(0, name="Aldana", account_id=101))
    assert await characters.find(made.id) == bench.store.rows[made.id] == made
    assert await characters.find(999) is None
    assert await characters.find_named("ALDANA") == made
    assert await characters.of_account(101) == [made]
    await characters.save_place(made.id, 12, (1.5, 2.5, 3.5, 90.0, 7))
    await characters.played(made.id, 5.0)
    await characters.save_mute(made.id, 6.0)
    await characters.set_admin_status(made.id, 100)
    assert bench.store.rows[made.id].place == (1.5, 2.5, 3.5, 90.0, 7)
    assert bench.store.rows[made.id].admin_status == 100
    has: BelongingsStore = belongings
    await has.save_relations(made.id, ((0, "Borvik"),))
    await has.save_titles(made.id, (Title("of the Isle"),), "", "of the Isle")
    await has.save_hotkeys(made.id, ())
    await has.save_channels(made.id, (Membership("Trade"),))
    assert await characters.delete(101, made.id)
    assert await characters.of_account(101) == []


async def test_what_the_hub_cannot_do_is_a_store_error_with_its_words() -> None:
    bench = Bench(most=1)
    await bench.characters().create(world_character(0, name="Aldana"))
    with pytest.raises(StoreError, match="aldana"):
        await bench.characters().create(world_character(0, name="aldana"))
    keys = bench.remote_keys()
    await keys.issue(1, 1, "Aldana")
    with pytest.raises(LimitExceeded, match="too many hand-off keys"):
        await keys.issue(2, 2, "Borvik")
    nobody = remote.RemoteCharacters(Counter(LocalBus([].append), "east"))
    with pytest.raises(StoreError, match="the hub cannot be reached now"):
        await nobody.find(1)


async def test_only_who_plays_a_character_may_store_it() -> None:
    bench = Bench()
    made = await bench.characters().create(world_character(0, account_id=101))
    place = (0.0, 0.0, 0.0, 0.0, 0)
    await bench.characters("east").save_place(made.id, 12, place)
    with pytest.raises(OutOfDate):
        await bench.characters("west").save_place(made.id, 33, place)
    key = await bench.remote_keys("east").issue(101, made.id, "Aldana")
    assert await bench.remote_keys("west").redeem(102, key) is None
    await bench.characters("east").save_place(made.id, 13, place)
    assert await bench.remote_keys("west").redeem(101, key) is not None
    with pytest.raises(OutOfDate):
        await bench.belongings("east").save_channels(made.id, ())
    await bench.characters("west").save_place(made.id, 33, place)
    assert bench.store.rows[made.id].zone_id == 33


@pytest.mark.parametrize(
    ("call", "arguments"),
    [("keys.steal", "[]"), ("characters.find", "{}"), ("characters.find", "[1,2]"),
     ("characters.find", "x"), ("__class__", "[]")],
)  # fmt: skip
async def test_calls_that_are_none(call: str, arguments: str) -> None:
    bench = Bench()
    with pytest.raises(CommandError):
        await bench.bus.request(TOPIC, {"process": "east", "call": call, "arguments": arguments})
