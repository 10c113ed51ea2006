"""Faults planted on purpose: each is one that such a server can have, as a patch in memory.

`python -m tools.simulate --plant NAME` plants one. They show that the auditors find what they are
made for, and how many seeds that takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from emu.database.sqlite.database import SqliteDatabase
from emu.errors import StoreAway, StoreError, StoreLocked
from emu.items.inventory import Inventory
from emu.net.cluster.service import ProcessesEndpoint
from emu.net.machine import ThreadWork
from emu.net.store_worker import PAUSE, StoreWorker
from emu.net.world import spool
from emu.net.world.listener import WorldListener
from emu.net.world.relocation import Relocation
from emu.processes.bus import LocalSubscription
from emu.store.houses import HouseRepository
from emu.store.spool import load_spool
from emu.world.actors.player import Player
from emu.world.combat.fights import Fights
from emu.world.crafting.creating import Creating
from emu.world.crafting.harvesting import Harvesting
from emu.world.crafting.transmuting import Transmuting
from emu.world.entry.entering import ZoneEntries
from emu.world.groups.groups import Groups, PlayerGroup
from emu.world.items.acts import ItemActs
from emu.world.items.looting import Looting
from emu.world.ledger.ledger import Ledger
from emu.world.population.deaths import Deaths
from emu.world.quests.rewards import QuestRewards
from emu.world.saving.saves import PlayerSaves
from emu.world.spells.pets import Pets
from emu.world.zones.zone import Zone
from tests.simulation.plan import Plan

Planting = Callable[[ExitStack], object]


def _save_not_awaited(stack: ExitStack) -> None:
    """A player is answered when the save begins, and not when it is stored."""

    async def confirm(self: PlayerSaves, player: Any, kind: Any) -> None:
        player.unsaved.kinds.add(kind)
        self.save(player)

    stack.enter_context(patch.object(PlayerSaves, "confirm", confirm))


def _lease_not_checked(stack: ExitStack) -> None:
    """A node goes on with zones that other nodes run by now."""
    stack.enter_context(patch.object(Relocation, "moved", lambda _self, _places: None))


def _lost_unsubscribe(stack: ExitStack) -> None:
    """A subscription to the bus is not ended."""
    stack.enter_context(patch.object(LocalSubscription, "cancel", lambda _self: None))


def _coin_counted_twice(stack: ExitStack) -> None:
    """A movement whose answer was lost is repeated under a new identity."""
    before = Ledger.move

    async def move(self: Ledger, movement: Any, late: Any = lambda: None) -> Any:
        try:
            moved = await self._store.move(movement, self._moment())
        except StoreAway:
            return await before(self, replace(movement, request=self._draw()), late)
        self.learn(moved.balances)
        return moved

    stack.enter_context(patch.object(Ledger, "move", move))


def _missing_sync(stack: ExitStack) -> None:
    """The setting that each commit is flushed to the disk has no effect."""
    stack.enter_context(
        patch.object(SqliteDatabase, "set_durability", lambda _self, _durability: None)
    )


def _stale_view(stack: ExitStack) -> None:
    """A client that takes a character over gets the deltas of the client before."""
    take_over, enter = ZoneEntries._take_over, Zone.enter

    def take(self: ZoneEntries, player: Player, client: Any, now: Any) -> None:
        with patch.object(Player, "close_view", lambda _self, _now: None):
            take_over(self, player, client, now)

    def enter_again(self: Zone, viewer_of: Any, now: Any) -> Any:
        fresh = viewer_of(self._baselines)
        before = self._viewers.get(fresh.spawn.id)
        return enter(self, viewer_of, now) if before is None else before

    stack.enter_context(patch.object(ZoneEntries, "_take_over", take))
    stack.enter_context(patch.object(Zone, "enter", enter_again))


def _timer_not_set_again(stack: ExitStack) -> None:
    """The periodic save of a player does not plan the next one."""

    def save(self: PlayerSaves, player: Any, _now: Any) -> None:
        self.save_or_report(player)

    stack.enter_context(patch.object(PlayerSaves, "_save_again", save))


def _order_applied_twice(stack: ExitStack) -> None:
    """An order to join a group is applied twice."""
    before = Groups._join_group

    def join(self: Groups, guest: int, leader: int) -> PlayerGroup:
        group = before(self, guest, leader)
        group.members.append(guest)
        return group

    stack.enter_context(patch.object(Groups, "_join_group", join))


def _dead_forgotten(stack: ExitStack) -> None:
    """What died is not stored."""
    stack.enter_context(patch.object(Deaths, "died", lambda *_about, **_more: None))


def _key_outlives_ban(stack: ExitStack) -> None:
    """A ban neither withdraws the keys of its account nor is looked for at the entry."""

    async def withdraw(_self: ProcessesEndpoint, _account_id: int) -> None:
        pass

    async def is_kept_out(_self: WorldListener, _account_id: int, _address: str) -> bool:
        return False

    stack.enter_context(patch.object(ProcessesEndpoint, "withdraw_keys", withdraw))
    stack.enter_context(patch.object(WorldListener, "_is_kept_out", is_kept_out))


def _spool_read_twice(stack: ExitStack) -> None:
    """The spool is stored at each start, whatever is newer, and is never removed."""
    before = load_spool

    def load(store: Any, states: Any) -> Any:
        rows = [store.world.characters.find(one.char_id) for one in states]
        return before(
            store,
            [
                replace(state, revision=row.revision + 1, term=row.term)
                for state, row in zip(states, rows, strict=True)
                if row is not None
            ],
        )

    stack.enter_context(patch.object(spool, "load_spool", load))
    stack.enter_context(patch("pathlib.Path.unlink", _kept_spool))


def _kept_spool(self: Path, missing_ok: bool = False) -> None:
    """Remove a file, unless it is a spool."""
    if self.name.endswith(".unsaved"):
        return
    if missing_ok and not self.exists():
        return
    os.remove(self)  # noqa: PTH107  # what this replaces


def _answer_before_commit(stack: ExitStack) -> None:
    """A thread of the store answers its calls before it commits their transaction."""
    before = StoreWorker._work

    def work(self: StoreWorker) -> ThreadWork:
        return _work_hastily(self) if self._name == WRITER else before(self)

    stack.enter_context(patch.object(StoreWorker, "_work", work))


WRITER = "emu-store-write"
"""The thread that writes a file."""
COMMIT = 0.05
"""Seconds that a commit of the planted fault takes."""


def _work_hastily(worker: StoreWorker) -> ThreadWork:
    worker._prepare()
    going = True
    while going:
        while worker._queue.empty():
            yield None
        jobs: list[Any] = []
        going = worker._take(jobs)
        while jobs:
            transaction = worker._group()  # type: ignore[misc]  # this thread has one
            try:
                transaction.__enter__()
            except StoreLocked:
                yield PAUSE
                continue
            for job in jobs:
                job.carry_out()
            jobs = worker._answered(jobs, worker._steady())
            yield COMMIT
            # The disk may be full by now.
            with suppress(StoreError):
                transaction.__exit__(None, None, None)
    worker._reactor.callFromThread(worker._end)


def _moves_not_counted(stack: ExitStack) -> None:
    """The ledger does not count what goes to the shared bank, or comes from it."""
    stack.enter_context(patch.object(ItemActs, "_settle_shared", lambda *_about: None))


def _dead_strike(stack: ExitStack) -> None:
    """Who dies goes on to strike."""
    stack.enter_context(patch.object(Fights, "_died", lambda _self, _event: None))


def _reward_without_identity(stack: ExitStack) -> None:
    """Each attempt to give the coins of a quest has an identity of its own."""
    before = QuestRewards._request

    def request(self: QuestRewards, player: Player, one: Any, what: str) -> str:
        return f"{before(self, player, one, what)}-{self._roll(1_000_000)}"

    stack.enter_context(patch.object(QuestRewards, "_request", request))


def _creation_goes_on(stack: ExitStack) -> None:
    """A creation does not end when its maker leaves the zone."""
    stack.enter_context(patch.object(Creating, "_drop", lambda _self, _player: None))


def _pet_left_behind(stack: ExitStack) -> None:
    """A pet stays when its master leaves the zone or dies."""
    stack.enter_context(patch.object(Pets, "forget", lambda _self, _spawn: None))


def _collection_rewarded_again(stack: ExitStack) -> None:
    """A collection that was handed in can be handed in again."""
    stack.enter_context(patch("emu.world.crafting.collecting._is_done", lambda _found: False))


def _harvest_twice(stack: ExitStack) -> None:
    """A harvest is carried out twice."""
    before = Harvesting.harvest

    def harvest(self: Harvesting, player: Player, spawn: Any) -> None:
        before(self, player, spawn)
        before(self, player, spawn)

    stack.enter_context(patch.object(Harvesting, "harvest", harvest))


def _purse_taken_again(stack: ExitStack) -> None:
    """The coins of a body stay in it after they were taken."""
    before = Looting._take_coins

    async def take(self: Looting, player: Player, spawn: Any, remains: Any) -> None:
        copper = remains.coins
        await before(self, player, spawn, remains)
        remains.coins = copper

    stack.enter_context(patch.object(Looting, "_take_coins", take))


def _damage_not_stored(stack: ExitStack) -> None:
    """What a death has damaged is not stored."""
    before = Inventory.set

    def change(self: Inventory, thing: Any, **values: Any) -> Any:
        changed = before(self, thing, **values)
        if changed.condition < thing.condition:
            self._changed.pop(thing.id, None)
        return changed

    stack.enter_context(patch.object(Inventory, "set", change))


def _materials_twice(stack: ExitStack) -> None:
    """A jewel gives its materials twice."""
    before = Transmuting._made_of

    def made(self: Transmuting, kind: Any) -> Any:
        return 2 * before(self, kind)

    stack.enter_context(patch.object(Transmuting, "_made_of", made))


def _upkeep_not_noted(stack: ExitStack) -> None:
    """The upkeep of a house is taken, and the house is paid for no longer than before."""
    stack.enter_context(patch.object(HouseRepository, "_paid", lambda *_about: None))


@dataclass(frozen=True)
class Plant:
    """One planted fault."""

    patch: Planting
    run: Plan
    """A small run that finds it with one of the first seeds."""


def _run(
    *acts: str, faults: tuple[str, ...] = (), nodes: int | None = 1, clients: int = 3,
    minutes: float = 2.0,
) -> Plan:  # fmt: skip
    return Plan(1, minutes, clients, nodes, faults, acts=acts)


PLANTS: dict[str, Plant] = {
    "save-not-awaited": Plant(_save_not_awaited, _run(faults=("kill",), nodes=None, clients=5)),
    "lost-unsubscribe": Plant(_lost_unsubscribe, _run(nodes=None, clients=5)),
    "timer-not-set-again": Plant(_timer_not_set_again, _run("walk", minutes=0.5)),
    "order-applied-twice": Plant(
        _order_applied_twice, _run("group", "accept group", "change group", minutes=1.0)
    ),
    "missing-sync": Plant(_missing_sync, _run(faults=("power",), clients=5)),
    "stale-view": Plant(_stale_view, _run(faults=("clients",), clients=4)),
    "key-outlives-ban": Plant(_key_outlives_ban, _run("walk", faults=("ban",))),
    "lease-not-checked": Plant(_lease_not_checked, _run(faults=("still", "database"), nodes=2)),
    "dead-forgotten": Plant(
        _dead_forgotten, _run("hunt", "slay", "fight", faults=("kill", "stop"))
    ),
    "coin-counted-twice": Plant(
        _coin_counted_twice,
        _run("give coins", "travel", "bank", faults=("answers",), nodes=2, minutes=1.5),
    ),
    "answer-before-commit": Plant(_answer_before_commit, _run("friend", minutes=0.5)),
    "spool-read-twice": Plant(
        _spool_read_twice, _run("walk", faults=("stop",), clients=2, minutes=3.0)
    ),
    "moves-not-counted": Plant(_moves_not_counted, _run("bank", "buy", minutes=0.5)),
    "creation-goes-on": Plant(_creation_goes_on, _run("buy", "learn", "create", clients=2)),
    "pet-left-behind": Plant(
        _pet_left_behind, _run("cast", "end a spell", "order a pet", minutes=1.0)
    ),
    "reward-without-identity": Plant(
        _reward_without_identity,
        _run("buy", "talk to the herald", faults=("kill",), minutes=3.0),
    ),
    "dead-strike": Plant(_dead_strike, _run("provoke", "revive", minutes=0.5)),
    "harvest-twice": Plant(_harvest_twice, _run("gather", clients=2, minutes=1.0)),
    "collection-rewarded-again": Plant(
        _collection_rewarded_again,
        _run("gather", "collect", "hand in a collection", clients=2, minutes=3.0),
    ),
    "purse-taken-again": Plant(_purse_taken_again, _run("slay", "loot", minutes=1.0)),
    "damage-not-stored": Plant(
        _damage_not_stored, _run("summon", "wear", "provoke", "revive", clients=4, minutes=3.0)
    ),
    "materials-twice": Plant(_materials_twice, _run("buy to use", "look through a lens")),
    "upkeep-not-noted": Plant(
        _upkeep_not_noted, _run("go to a house", "leave a house", clients=2, minutes=1.0)
    ),
}


def cells(name: str) -> list[str]:
    """Return what the table of planted faults says about the runs of one."""
    run = PLANTS[name].run
    nodes = "by seed" if run.nodes is None else str(run.nodes)
    return [
        f"`{name}`", ", ".join(run.faults) or "none", nodes, str(run.clients),
        f"{run.minutes:g}", ", ".join(run.acts) or "all",
    ]  # fmt: skip


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Plant a fault; the empty name is none."""
    with ExitStack() as stack:
        if name:
            PLANTS[name].patch(stack)
        yield
