"""kill -9 of the whole server while players buy, sell, split, bank, loot, craft, travel and trade.

After each kill everything that an owner has is what the ledger says: coins, and things of each
kind. No two things lie in one place, no trade is half done, what a player read of a deal is stored,
and of a player's own acts at most the last ones are missing (../shared/spec/eq2-items.md 18, R32;
world-design.md 8). EMU_CRASH_ROUNDS is the number of kills (2), EMU_CRASH_PAIRS that of pairs of
players (2), EMU_CRASH_ACTS that of acts of each until a kill (16), EMU_CRASH_SEED makes another
choice of acts and moments.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world.core import WorldClientCore, WorldPhase
from emu.client.world.events import LineShown
from emu.errors import CommandError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.store import Store
from tests.support.patience import patience
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    add_account,
    reactor,
    rows,
    server_process,
    sleep,
)

ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "2"))
LONG = 20
"""Rounds of a trial in which every kind of act happens."""
PAIRS = int(os.environ.get("EMU_CRASH_PAIRS", "2"))
SEED = int(os.environ.get("EMU_CRASH_SEED", "1"))
MOST = int(os.environ.get("EMU_CRASH_ACTS", "16"))
"""The most acts of each dealer until a kill; the fewest are a third."""
LATE = 1.5
"""Seconds that a save may take on a busy machine."""
STORED = 0.2
"""Seconds until what a player does with its own things is stored."""
VERSIONS = (546, 60114, 1208, 561)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
STAND = (8.0, -7.97, 245.0)
"""A place from which the shipped merchant, banker and coffer can be reached."""
MERCHANT, BANKER, COFFER = "Maren Saltwick", "Corvin Stoutlock", "a salt-stained coffer"
FORGE = "a salt-worn forge"
IRON, HIDE, COAL = 2_000_000_049, 2_000_000_051, 2_000_000_053
PRIMER, RECIPE, CAP = 2_000_000_062, 2_000_000_001, 2_000_000_030
ISLE, AWAY = ("tutorial_island02", "Isle of Refuge"), ("antonica", "Antonica")
"""Commands name a zone by its file; a client reads its description."""
AT_ONCE = 4
"""Clients that enter at the same time."""
WARES = (2_000_000_001, 2_000_000_006, 2_000_000_014, 2_000_000_044, 2_000_000_046)
SETTINGS = {"world.save_seconds": 1.0}
KEEPERS = ("character", "account", "sold", "letter", "house", "pieces", "library")


@dataclass
class Dealer:
    """One player, and what it has read."""

    name: str
    version: int
    choice: random.Random
    client: ClientWorldConnection | None = None
    texts: list[str] = field(default_factory=list)
    slots: list[tuple[float, int]] = field(default_factory=list)
    """Of who only moves a thing: moments on the test's clock, and where it put it."""

    async def come(self, server: ServerProcess) -> None:
        entrance = Entrance(
            Credentials(self.name.lower(), "secret"), self.name, create=True, version=self.version
        )
        self.client = await enter_world(
            reactor, HOST, server.login_port, entrance, timeout=patience(60.0)
        )
        self.client.on_event = self._read

    def _read(self, event: object) -> None:
        if isinstance(event, LineShown):
            self.texts.append(event.text)

    @property
    def core(self) -> WorldClientCore:
        assert self.client is not None
        return self.client.core

    async def does(self, *lines: str) -> None:
        """Type commands one after the other, without waiting for their answers.

        Between two zones there is nobody to type them to.
        """
        assert self.client is not None
        for line in lines:
            if self.core.phase in (WorldPhase.STANDING, WorldPhase.CLOSED):
                self.client.command(line)
            await sleep(self.choice.uniform(0.0, 0.06))

    async def uses(self, name: str) -> bool:
        """Open the window of somebody; false if it is not in sight yet."""
        seen = self.core.surroundings
        index = seen.find(name) if seen is not None else None
        if index is None:
            return False
        assert self.client is not None
        self.client.act(lambda core: core.target(index))
        self.client.act(lambda core: core.use(index))
        await sleep(0.1)
        return True

    # -- acts -------------------------------------------------------------------------------------

    async def shops(self) -> None:
        if await self.uses(MERCHANT):
            for _ in range(6):
                verb = self.choice.choice(
                    ("buy_from", "buy_from", "sell_to", "sell_to", "buyback_from")
                )
                item = self.choice.choice((*WARES, IRON))
                await self.does(f"{verb}_merchant {item} {self.choice.choice((1, 1, 2, 25))}")

    async def banks(self) -> None:
        if await self.uses(BANKER):
            for _ in range(6):
                copper = self.choice.randrange(1, 300)
                place, slot = self.choice.randrange(20), self.choice.randrange(8)
                await self.does(self.choice.choice((
                    f"bank_deposit {copper}", f"bank_withdraw {copper}",
                    f"inventory move {place} {slot} -3 {self.choice.randrange(1, 4)}",
                    f"inventory move {place} {self.choice.randrange(6)} 0 1",
                )))  # fmt: skip

    async def sorts(self) -> None:
        for _ in range(6):
            place, slot = self.choice.randrange(20), self.choice.randrange(6)
            await self.does(self.choice.choice((
                f"inventory move {place} {slot} 0 {self.choice.choice((1, 3, 255))}",
                f"inventory destroy {self.choice.randrange(8, 20)}", f"inventory equip {place}",
                f"inventory unequip {slot}",
            )))  # fmt: skip

    async def loots(self) -> None:
        if not await self.uses(COFFER):
            return
        assert self.client is not None
        seen = self.core.surroundings
        index = seen.find(COFFER) if seen is not None else None
        if index is not None:
            everything = b"\1" if self.version <= 561 else b"\0\1\1"
            body = index.to_bytes(4, "little") + everything + b"\xff" * 4
            self.client.act(lambda core: core.send("OP_LootItemsRequestMsg", body))

    async def trades_with(self, other: Dealer) -> None:
        """Offer iron for coins, and let the other one accept."""
        seen = self.core.surroundings
        index = seen.find(other.name) if seen is not None else None
        if index is None:
            return
        await self.does(f"start_trade {index}")
        for place in range(self.choice.randrange(1, 4)):
            await self.does(f"add_trade_item {place} {place} {self.choice.randrange(1, 4)}")
        await other.does(f"add_trade_copper {self.choice.randrange(1, 50)}")
        await sleep(0.1)
        await self.does("accept_trade")
        await other.does("accept_trade")
        await sleep(0.1)
        await self.does("cancel_trade")

    async def learns(self, database: Path) -> None:
        """Make a recipe book, and learn its recipe."""
        await self.does(f"summonitem {PRIMER}")
        await sleep(patience(1.0))
        query = (
            "SELECT number FROM world_things JOIN world_characters AS one ON one.id = keeper_id"
            " WHERE keeper = 'character' AND item_id = ? AND one.name = ?"
        )
        ((number,),) = rows(database, query, PRIMER, self.name)
        await self.does(f"scribe_scroll_item {number}")

    async def crafts(self) -> None:
        """Begin to make something, and give it up at some moment."""
        await self.does(f"summonitem {HIDE} 2", f"summonitem {COAL} 4")
        if await self.uses(FORGE):
            await self.creates()

    async def creates(self) -> None:
        """Make something at the device in use, with what fits, and give it up at some moment."""
        await self.does(f"createfromrecipe {RECIPE}")
        assert self.client is not None
        # Without a choice of its own, a client gets what fits.
        begin = self.core.messages.dialect.layout("WS_BeginItemCreation").encode({})
        self.client.act(lambda core: core.send("OP_BeginItemCreationMsg", begin))
        await sleep(self.choice.uniform(0.0, 0.8))
        self.client.act(lambda core: core.send("OP_StopItemCreationMsg"))
        await sleep(self.choice.uniform(0.0, 0.1))

    async def travels(self) -> None:
        """Go to another zone and come back to the dock."""
        await self._goes_to(AWAY)
        await self.returns()

    async def returns(self) -> None:
        """Go to the dock, from wherever a kill has left the player."""
        if not self._is_in(ISLE):
            await self._goes_to(ISLE)
        await self.does("move " + " ".join(map(str, STAND)))

    def _is_in(self, place: tuple[str, str]) -> bool:
        core = self.core
        is_standing = core.phase is WorldPhase.STANDING and core.zone is not None
        return is_standing and core.zone.description == place[1]  # type: ignore[union-attr]

    async def _goes_to(self, place: tuple[str, str]) -> None:
        assert self.client is not None
        await self.does(f"zone {place[0]}")
        await self.client.until(
            lambda: self._is_in(place), f"to enter {place[1]}", timeout=patience(60.0)
        )

    async def moves(self) -> None:
        """Move its only thing from place to place, until the server is gone."""
        while True:
            slot = self.choice.randrange(6)
            await self.does(f"inventory move 0 {slot} 0 1")
            self.slots.append((reactor.seconds(), slot))

    async def deals(self, other: Dealer, done: Callable[[], None]) -> None:
        """Deal until the server is gone; each act is counted by `done`."""
        await self.returns()
        await self.loots()
        while True:
            act = self.choice.randrange(12)
            if act < 4:
                await self.trades_with(other)
            else:
                acts = (self.shops, self.shops, self.banks, self.banks, self.sorts, self.sorts,
                        self.crafts, self.travels)  # fmt: skip
                await acts[act - 4]()
            done()


class Killing:
    """Kills a server in the middle of somebody's acts, after a number of them."""

    def __init__(self, server: ServerProcess, acts: int, late: float) -> None:
        self._server, self._left, self._late = server, acts, late
        self.moment = 0.0

    def count(self) -> None:
        self._left -= 1
        if not self._left:
            reactor.callLater(self._late, self._kill)

    def _kill(self) -> None:
        self.moment = reactor.seconds()
        self._server.kill()

    async def wait(self, works: Iterable[Awaitable[object]]) -> None:
        """Let everybody act until the server is gone."""
        await gatherResults([Deferred.fromCoroutine(self._done(work)) for work in works])

    async def _done(self, work: Awaitable[object]) -> None:
        try:
            await work
        except CommandError:
            # The client has noticed it.
            if not self.moment:
                raise


# -- what must hold -------------------------------------------------------------------------------


def by_ledger(database: Path, what: str) -> dict[tuple[str, int, int], int]:
    """Return what owners have by the entries: owner, its number, kind; without those at 0."""
    found: dict[tuple[str, int, int], int] = {}
    for giver, giver_id, taker, taker_id, number, amount in rows(
        database,
        "SELECT giver, giver_id, taker, taker_id, number, amount FROM world_ledger WHERE what = ?",
        what,
    ):
        for owner, sign in (((giver, giver_id), -amount), ((taker, taker_id), amount)):
            key = (*owner, number)
            found[key] = found.get(key, 0) + sign
    return {key: amount for key, amount in found.items() if amount}


def check_owners(database: Path) -> int:
    """Hold what each owner has to the ledger; return how many things there are."""
    coins = {
        (kind, number, 0): copper
        for kind, table in (("character", "world_characters"), ("bank", "world_banks"))
        for number, copper in rows(database, f"SELECT id, coins FROM {table} WHERE coins")
    }
    said = by_ledger(database, "coins")
    assert coins == {key: amount for key, amount in said.items() if key[0] in ("character", "bank")}
    things = {
        (keeper, number, item): count
        for keeper, number, item, count in rows(
            database,
            "SELECT keeper, keeper_id, item_id, sum(count) FROM world_things GROUP BY 1, 2, 3",
        )
    }
    said = by_ledger(database, "things")
    assert things == {key: amount for key, amount in said.items() if key[0] in KEEPERS}
    return sum(things.values())


def check_places(database: Path) -> None:
    """No two things lie in one place, and no thing in a bag that its owner has not."""
    doubled = rows(
        database,
        "SELECT keeper, keeper_id, list, bag, slot FROM world_things"
        " WHERE list NOT IN ('held', 'overflow') GROUP BY 1, 2, 3, 4, 5 HAVING count(*) > 1",
    )
    assert doubled == []
    homeless = rows(
        database,
        "SELECT one.number FROM world_things AS one LEFT JOIN world_things AS bag"
        " ON bag.number = one.bag AND bag.keeper = one.keeper AND bag.keeper_id = one.keeper_id"
        " WHERE one.bag <> 0 AND bag.number IS NULL",
    )
    assert homeless == []


def check_trades(database: Path) -> int:
    """Each trade has all its parts, between two players; return how many gave coins for things."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    query = (
        "SELECT request, part, what, giver, giver_id, taker, taker_id FROM world_ledger"
        " WHERE reason = 'traded' ORDER BY request, part"
    )
    for request, *part in rows(database, query):
        found.setdefault(request, []).append(tuple(part))
    for parts in found.values():
        assert [part[0] for part in parts] == list(range(len(parts)))
        assert len({side for part in parts for side in (part[2:4], part[4:6])}) == 2
    return sum({part[1] for part in parts} == {"coins", "things"} for parts in found.values())


def check_words(database: Path, dealers: list[Dealer]) -> dict[str, int]:
    """What a player has read of its deals is stored; return how many deals were read."""
    counted: dict[str, int] = {}
    for word, reason, side in (("You buy ", "bought", "taker"), ("You sell ", "sold", "giver")):
        query = (
            f"SELECT count(DISTINCT request) FROM world_ledger JOIN world_characters AS one"
            f" ON one.id = {side}_id WHERE {side} = 'character' AND what = 'things'"
            f" AND reason = ? AND one.name = ?"
        )
        for one in dealers:
            read = sum(text.startswith(word) for text in one.texts)
            ((stored,),) = rows(database, query, reason, one.name)
            assert read <= stored, (one.name, reason)
            counted[reason] = counted.get(reason, 0) + read
    return counted


def check_mover(database: Path, mover: Dealer, killed: float) -> None:
    """The place of a thing is the last one, or one of the last fifth of a second."""
    query = (
        "SELECT slot FROM world_things JOIN world_characters AS one ON one.id = keeper_id"
        " WHERE keeper = 'character' AND list = 'bags' AND one.name = ?"
    )
    ((slot,),) = rows(database, query, mover.name)
    since = killed - STORED - patience(LATE)
    before = [place for moment, place in mover.slots if moment < since]
    recent = [place for moment, place in mover.slots if moment >= since]
    assert slot in {*before[-1:], *recent}


def check(database: Path, dealers: list[Dealer], mover: Dealer, killed: float) -> dict[str, Any]:
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    assert rows(database, "PRAGMA foreign_key_check") == []
    things = check_owners(database)
    check_places(database)
    check_mover(database, mover, killed)
    with closing(Store.create(database)) as store:
        audit = store.world.ledger.audit()
    assert (audit.differences, audit.wrong_things) == ((), ())
    assert audit.held == audit.by_entries
    trades = check_trades(database)
    ((crafted,),) = rows(
        database, "SELECT count(DISTINCT request) FROM world_ledger WHERE reason = 'crafted'"
    )
    words = check_words(database, dealers)
    ((entries,),) = rows(database, "SELECT count(*) FROM world_ledger")
    return {"things": things, "entries": entries, "trades": trades, "crafted": crafted, **words}


def cast() -> tuple[list[Dealer], Dealer]:
    """Return pairs of dealers of all versions, and one who only moves a thing."""
    names = [f"Deal{LETTERS[n // 26]}{LETTERS[n % 26]}" for n in range(2 * PAIRS)]
    dealers = [
        Dealer(name, VERSIONS[n % len(VERSIONS)], random.Random(SEED * 1000 + n))
        for n, name in enumerate(names)
    ]
    return dealers, Dealer("Movera", 546, random.Random(SEED))


async def everybody_does(works: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Carry out some works, a few at a time."""
    waiting = iter(works)

    async def one_by_one() -> None:
        for work in waiting:
            await work

    await gatherResults([Deferred.fromCoroutine(one_by_one()) for _ in range(AT_ONCE)])


async def make_characters(folder: Path, database: Path, everybody: list[Dealer]) -> None:
    """Let all enter once, as game masters from then on, on the dock of the isle."""
    for one in everybody:
        add_account(database, one.name.lower(), "secret")
    async with server_process(folder, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        await everybody_does(one.come(server) for one in everybody)
        for one in everybody:
            assert one.client is not None
            await one.client.leave()
        server.kill()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE world_characters SET admin_status = 100, zone_id = 325, x = ?, y = ?, z = ?",
            STAND,
        )


async def furnish(dealers: list[Dealer], mover: Dealer, database: Path) -> None:
    """Empty all bags; the dealers get iron, coins and a recipe, the mover one thing."""

    async def furnished(one: Dealer) -> None:
        await one.does(*(f"inventory destroy {place}" for place in range(8)))
        if one is mover:
            await one.does(f"summonitem {CAP}")
        else:
            await one.learns(database)
            await one.does(f"summonitem {IRON} 40", "player coins add 20000")

    await everybody_does(furnished(one) for one in (*dealers, mover))
    await sleep(patience(STORED))


@pytest.mark.slow
async def test_a_kill_loses_no_thing_and_doubles_none(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    database = tmp_path / "emu.sqlite"
    dealers, mover = cast()
    await make_characters(tmp_path, database, [*dealers, mover])
    found: dict[str, Any] = {}
    for number in range(ROUNDS):
        async with server_process(tmp_path, SETTINGS) as server:
            await server.line(r"world Norrath \(1\) registered")
            await everybody_does(one.come(server) for one in (*dealers, mover))
            if not number:
                await furnish(dealers, mover, database)
            acts = choice.randrange(MOST * len(dealers) // 3, MOST * len(dealers))
            killing = Killing(server, acts, choice.uniform(0.0, 0.3))
            pairs = [*zip(dealers[::2], dealers[1::2], strict=True)]
            await killing.wait([
                mover.moves(),
                *(one.deals(two, killing.count) for one, two in pairs),
                *(two.deals(one, killing.count) for one, two in pairs),
            ])  # fmt: skip
            for one in (*dealers, mover):
                assert one.client is not None
                await one.client.stop()
        found = check(database, dealers, mover, killing.moment)
        print(number, found, flush=True)  # noqa: T201  # with -s, what a long trial has done
    # Chance decides what people do in a short trial.
    assert found["things"], found
    assert ROUNDS < LONG or all(found.values()), found
