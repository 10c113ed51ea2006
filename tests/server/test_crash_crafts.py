"""kill -9 of the whole server while players craft: no component is lost without its product.

After each kill everything that an owner has is what the ledger says, each creation has all its
parts, and each one whose product a player has read of is stored. EMU_CRASH_ROUNDS is the number of
kills (2), EMU_CRASH_SEED makes another choice of moments.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from emu.store import Store
from tests.server.test_crash_things import (
    COAL,
    FORGE,
    HIDE,
    IRON,
    ROUNDS,
    SEED,
    SETTINGS,
    Dealer,
    Killing,
    check_owners,
    check_places,
    make_characters,
)
from tests.support.running.whole_server import rows, server_process, sleep

BUCKLE, SLAG = 2_000_000_054, 2_000_000_055
TAKEN = {IRON: 2, HIDE: 1, COAL: 2}
"""What the recipe says."""
CREATED = "You created "
FEWEST, MOST = 4, 14
"""Creations until a kill."""


class Smith(Dealer):
    """A player that makes one thing after the other."""

    async def prepares(self, database: Path, *, is_first: bool) -> None:
        if is_first:
            await self.does(*(f"inventory destroy {place}" for place in range(8)))
            await self.learns(database)
        await self.does(f"summonitem {IRON} 90", f"summonitem {HIDE} 45", f"summonitem {COAL} 90")
        while not await self.uses(FORGE):
            await sleep(0.1)

    async def makes_things(self, done: Killing) -> None:
        """Make things until the server is gone, and give each up at another moment."""
        while True:
            await self.creates()
            done.count()


def check_creations(database: Path, smiths: list[Smith]) -> int:
    """Each creation took what the recipe says, and gave something; return how many there are."""
    taken: dict[str, Counter[int]] = {}
    given: dict[str, Counter[int]] = {}
    makers: dict[str, int] = {}
    query = (
        "SELECT request, giver, giver_id, taker, taker_id, number, amount FROM world_ledger"
        " WHERE reason = 'crafted'"
    )
    for request, giver, giver_id, taker, taker_id, item, amount in rows(database, query):
        assert {giver, taker} == {"character", "recipe"}
        sides = taken if giver == "character" else given
        sides.setdefault(request, Counter())[item] += amount
        makers[request] = giver_id if giver == "character" else taker_id
    assert taken.keys() == given.keys()
    assert all(one == TAKEN for one in taken.values())
    assert all(one.keys() <= {BUCKLE, SLAG} for one in given.values())
    for smith in smiths:
        ((number,),) = rows(
            database, "SELECT id FROM world_characters WHERE name = ?", smith.name
        )  # fmt: skip
        read = sum(text.startswith(CREATED) for text in smith.texts)
        assert read <= sum(one == number for one in makers.values())
    return len(taken)


@pytest.mark.slow
async def test_a_kill_loses_no_component_without_its_product(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    database = tmp_path / "emu.sqlite"
    smiths = [
        Smith(name, version, random.Random(SEED * 100 + version))
        for name, version in (("Smitha", 546), ("Smithb", 60114), ("Smithc", 1208))
    ]
    await make_characters(tmp_path, database, [*smiths])
    found = 0
    for number in range(ROUNDS):
        async with server_process(tmp_path, SETTINGS) as server:
            await server.line(r"world Norrath \(1\) registered")
            for one in smiths:
                await one.come(server)
                await one.prepares(database, is_first=not number)
            acts = choice.randrange(FEWEST * len(smiths), MOST * len(smiths))
            killing = Killing(server, acts, choice.uniform(0.0, 0.3))
            await killing.wait([one.makes_things(killing) for one in smiths])
            for one in smiths:
                assert one.client is not None
                await one.client.stop()
        assert rows(database, "PRAGMA integrity_check") == [("ok",)]
        assert check_owners(database) > 0
        check_places(database)
        with closing(Store.create(database)) as store:
            audit = store.world.ledger.audit()
        assert (audit.differences, audit.wrong_things) == ((), ())
        before, found = found, check_creations(database, smiths)
        assert found > before
    with closing(sqlite3.connect(database)) as connection:
        ((books,),) = connection.execute(
            "SELECT count(*) FROM world_things WHERE keeper = 'library'"
        ).fetchall()
    assert books == len(smiths)
    print(found)  # noqa: T201  # with -s, how many creations a long trial has stored
