"""kill -9 of the whole server while players take quests, do their steps and take the rewards.

After each kill a completed quest has given its coins, things and experience once, or says in the
journal what it still has to give; an open quest has given nothing but coins, which its end then
does not give again. Behind the last kill the players go on to the end of all quests, and nothing is
missing.
EMU_CRASH_ROUNDS is the number of kills (2), EMU_CRASH_QUESTERS that of players in each round (3),
EMU_CRASH_AGAIN how often the same players go on after a kill until others take their place (1).
EMU_CRASH_SEED makes another choice of moments.
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from twisted.internet.defer import Deferred, gatherResults

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.content.quest_files import read_quests, shipped_quests
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.quests.journal import Journal
from emu.rules.experience import usual_needs
from emu.store import Store
from tests.server.test_crash_things import SETTINGS, STAND, Killing, check_owners
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

ROUNDS: Final = int(os.environ.get("EMU_CRASH_ROUNDS", "2"))
QUESTERS: Final = int(os.environ.get("EMU_CRASH_QUESTERS", "3"))
AGAIN: Final = int(os.environ.get("EMU_CRASH_AGAIN", "1"))
SEED: Final = int(os.environ.get("EMU_CRASH_SEED", "1"))
VERSIONS: Final = (546, 1208, 60114)
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
PAUSES: Final = 0.06
"""Most seconds between two commands."""
LONGEST: Final = 60.0
"""Seconds for the end of all quests."""
QUESTS: Final = read_quests([shipped_quests()])


def name_of(number: int) -> str:
    return f"Quest{LETTERS[number // 676 % 26]}{LETTERS[number // 26 % 26]}{LETTERS[number % 26]}"


@dataclass
class Quester:
    """A player who does the shipped quests by the commands of game masters."""

    name: str
    version: int
    choice: random.Random
    client: ClientWorldConnection | None = None

    async def come(self, server: ServerProcess) -> None:
        entrance = Entrance(
            Credentials(self.name.lower(), "secret"), self.name, create=True, version=self.version
        )
        self.client = await enter_world(reactor, HOST, server.login_port, entrance)

    async def does(self, line: str) -> None:
        assert self.client is not None
        self.client.command(line)
        await sleep(self.choice.uniform(0.0, PAUSES))

    async def quests(self, done: Callable[[], None]) -> None:
        """Do all quests from wherever they are; each act is counted by `done`."""
        for number, quest in QUESTS.items():
            await self.does(f"quest give {self.name} {number}")
            done()
            for phase in quest.phases:
                for step in phase.steps:
                    await self.does(f"quest step {self.name} {number} {step.number}")
                    done()
            await self.takes(quest.plan.number)
            done()

    async def takes(self, number: int) -> None:
        """Take the reward of a quest, if its window is open."""
        choices = QUESTS[number].plan.reward.choices
        chosen = choices[0][0] if choices else 0
        await self.does(f"accept_reward {chosen} {chosen}")

    async def quests_until_killed(self, done: Callable[[], None]) -> None:
        while True:
            await self.quests(done)


# -- what must hold -------------------------------------------------------------------------------


def gained(level: int, experience: int) -> int:
    """Return all points that lead to a level, and the points in it."""
    return experience + sum(points for one, points in usual_needs().items() if one <= level)


def moved(database: Path) -> Counter[tuple[int, int, str]]:
    """Return how many rewards moved: by character, quest, and coins or things."""
    found: Counter[tuple[int, int, str]] = Counter()
    query = "SELECT DISTINCT request FROM world_ledger WHERE request LIKE 'quest-%' AND amount > 0"
    for (request,) in rows(database, query):
        _, character, quest, _, what, *_ = request.split("-")
        found[int(character), int(quest), what] += 1
    return found


def check(database: Path) -> dict[str, int]:
    """Hold journals to what was given; return how many quests are open, done and pending."""
    assert rows(database, "PRAGMA integrity_check") == [("ok",)]
    check_owners(database)
    with closing(Store.create(database)) as store:
        audit = store.world.ledger.audit()
    assert (audit.differences, audit.wrong_things) == ((), ())
    given, counted = moved(database), Counter[str]()
    for number, text, level, experience in rows(
        database, "SELECT id, quests, level, experience FROM world_characters"
    ):
        journal = Journal(text)
        pending = {one.quest: one for one in journal.pending}
        assert len(pending) == len(journal.pending)
        assert not pending.keys() - journal.completed.keys()
        points = 0
        for quest, plan in ((one, QUESTS[one].plan) for one in QUESTS):
            coins, things = given[number, quest, "coins"], given[number, quest, "things"]
            assert coins <= 1
            assert things <= 1
            if quest not in journal.completed:
                assert not things
                continue
            assert journal.times(quest) == 1
            one = pending.get(quest)
            assert coins or (one is not None and not one.has_coins)
            assert things or one is not None
            # What is being taken when the server is killed may have been moved or not.
            assert not (things and one is not None and not one.is_taken)
            points += plan.reward.experience - (one.reward.experience if one is not None else 0)
        assert gained(level, experience) == points
        counted.update(open=len(journal.open), done=len(journal.completed), pending=len(pending))
    return dict(counted)


async def make_characters(folder: Path, database: Path, everybody: Sequence[Quester]) -> None:
    """Let all enter once; from then on they are game masters on the dock of the isle."""
    for one in everybody:
        add_account(database, one.name.lower(), "secret")
    async with server_process(folder, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        for one in everybody:
            await one.come(server)
            assert one.client is not None
            await one.client.leave()
        server.kill()
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "UPDATE world_characters SET admin_status = 100, zone_id = 325, x = ?, y = ?, z = ?,"
            " quests = ''",
            STAND,
        )


async def finish(folder: Path, everybody: Sequence[Quester], database: Path) -> None:
    """Let some do what is left of their quests, until no reward of theirs is pending."""
    names = [one.name for one in everybody]
    query = f"SELECT quests FROM world_characters WHERE name IN ({', '.join('?' * len(names))})"
    async with server_process(folder, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        for one in everybody:
            await one.come(server)
        end = reactor.seconds() + patience(LONGEST)
        while reactor.seconds() < end:
            works = [Deferred.fromCoroutine(one.quests(lambda: None)) for one in everybody]
            await gatherResults(works)
            await sleep(patience(0.5))
            texts = [text for (text,) in rows(database, query, *names)]
            if all(
                journal.completed.keys() == QUESTS.keys() and not journal.pending
                for journal in map(Journal, texts)
            ):
                break
        for one in everybody:
            assert one.client is not None
            await one.client.leave()


@pytest.mark.slow
async def test_a_kill_loses_no_reward_and_doubles_none(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    database = tmp_path / "emu.sqlite"
    everybody = [
        Quester(name_of(n), VERSIONS[n % len(VERSIONS)], random.Random(SEED * 1000 + n))
        for n in range(-(-ROUNDS // AGAIN) * QUESTERS)
    ]
    groups = [everybody[at : at + QUESTERS] for at in range(0, len(everybody), QUESTERS)]
    await make_characters(tmp_path, database, everybody)
    found: Counter[str] = Counter()
    commands = sum(2 + sum(len(phase.steps) for phase in one.phases) for one in QUESTS.values())
    for number in range(ROUNDS):
        players = groups[number // AGAIN]
        async with server_process(tmp_path, SETTINGS) as server:
            await server.line(r"world Norrath \(1\) registered")
            for one in players:
                await one.come(server)
            acts = choice.randrange(2 * QUESTERS, commands * QUESTERS // AGAIN)
            killing = Killing(server, acts, choice.uniform(0.0, 0.3))
            await killing.wait([one.quests_until_killed(killing.count) for one in players])
            for one in players:
                assert one.client is not None
                await one.client.stop()
        found.update(check(database))
    for players in groups:
        await finish(tmp_path, players, database)
    last = check(database)
    print(dict(found), last)  # noqa: T201  # with -s, what a long trial has done
    assert last == {"open": 0, "done": len(QUESTS) * len(everybody), "pending": 0}
