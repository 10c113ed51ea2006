"""kill -9 of the whole server at random moments while players and worlds are at work.

What the server has confirmed stays true: no account, character or world is lost, and none is there
twice. EMU_CRASH_ROUNDS is the number of kills (3), EMU_CRASH_SEED makes another choice of moments.
"""

import os
import random
import string
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.error import ConnectError

from emu.errors import CommandError
from emu.net.client.connection import ClientConnection
from emu.session import SessionConfig
from tests.support.login.scripted_world import connect_world, frame, ls_info
from tests.support.running.clients import connect
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    reactor,
    rows,
    server_process,
    sleep,
    until,
)

ROUNDS = int(os.environ.get("EMU_CRASH_ROUNDS", "3"))
SEED = int(os.environ.get("EMU_CRASH_SEED", "1"))
SETTINGS = {
    "login.auto_create_accounts": True,
    "login.max_characters": 200,
    "link.unregistered_worlds": True,
}
QUICK = SessionConfig(
    session_request_pause=0.1, session_request_pause_growth=1.0, session_request_attempts=50
)
PLAYERS = 4
NEW_ACCOUNTS = 16
"""Accounts made in one round; one address may make only so many in a row."""


@dataclass
class Promises:
    """What the server confirmed to clients, over all rounds."""

    accounts: set[str] = field(default_factory=set)
    characters: dict[str, str] = field(default_factory=dict)
    """Name of a character -> of its account."""
    asked_to_delete: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    worlds: set[str] = field(default_factory=set)
    names: int = 0

    def new_name(self, prefix: str) -> str:
        """Return a name of letters that was never used."""
        self.names += 1
        number, letters = self.names, ""
        while number:
            number, digit = divmod(number, 26)
            letters += string.ascii_lowercase[digit]
        return prefix + letters

    def are_enough(self) -> bool:
        """Return whether there is enough of each kind to lose some."""
        kinds = (self.accounts, self.characters)
        return all(len(one) >= ROUNDS for one in kinds) and bool(self.worlds)

    def check(self, database: Path) -> None:
        """Hold the database to what was promised."""
        assert rows(database, "PRAGMA integrity_check") == [("ok",)]
        assert rows(database, "PRAGMA foreign_key_check") == []
        accounts = Counter(name for (name,) in rows(database, "SELECT name FROM accounts"))
        self._once(accounts, self.accounts)
        listed = rows(
            database,
            "SELECT characters.name, accounts.name, characters.deleted FROM characters"
            " JOIN accounts ON accounts.id = account_id",
        )
        self._once(Counter(name for name, _, _ in listed), set(self.characters))
        of_world = rows(database, "SELECT name, account_id, deleted FROM world_characters")
        self._once(Counter(name for name, _, _ in of_world), set(self.characters))
        owners = {name: owner for name, owner, _ in listed}
        assert all(owners[name] == owner for name, owner in self.characters.items())
        gone = {name for name, _, deleted in listed if deleted}
        assert self.deleted <= gone <= self.asked_to_delete
        worlds = Counter(name for (name,) in rows(database, "SELECT name FROM worlds"))
        self._once(worlds, self.worlds | {"Norrath"})

    @staticmethod
    def _once(found: Counter[str], promised: set[str]) -> None:
        assert not [name for name, count in found.items() if count > 1], "there twice"
        assert promised <= set(found), f"lost: {promised - set(found)}"


class Round:
    """One life of the server, and everybody who is at work in it."""

    def __init__(self, server: ServerProcess, promises: Promises, choice: random.Random) -> None:
        self.server = server
        self.promises = promises
        self.choice = choice
        self.over = False
        self.clients: list[ClientConnection] = []
        self.new_accounts = 0
        self.busy: set[str] = set()
        """Accounts somebody is logged in with; a second login would end the first."""

    def begin(self) -> Deferred[Any]:
        """Set everybody to work; the result comes when all have noticed the end."""
        work: list[Coroutine[Any, Any, None]] = [self._play() for _ in range(PLAYERS)]
        return gatherResults([Deferred.fromCoroutine(one) for one in [*work, self._worlds()]])

    async def end(self) -> None:
        """Kill the server and let everybody know that nothing will come any more."""
        self.over = True
        self.server.kill()
        for client in list(self.clients):
            await client.stop()

    async def _play(self) -> None:
        while not self.over:
            try:
                await self._one_login()
            except CommandError:
                if not self.over:
                    raise

    def _account(self) -> str:
        """Choose an account that nobody is logged in with, or the name of a new one."""
        free = sorted(self.promises.accounts - self.busy)
        if free and (self.new_accounts >= NEW_ACCOUNTS or self.choice.random() < 0.5):
            return self.choice.choice(free)
        self.new_accounts += 1
        return self.promises.new_name("player")

    async def _one_login(self) -> None:
        account = self._account()
        self.busy.add(account)
        try:
            await self._log_in(account)
        finally:
            self.busy.discard(account)

    async def _log_in(self, account: str) -> None:
        port = self.server.login_port
        client = await connect(
            reactor, HOST, port, account, "secret", version=1208, timeout=30.0, config=QUICK
        )
        self.clients.append(client)
        try:
            await client.login()
            self.promises.accounts.add(account)
            worlds = await client.worlds()
            norrath = next((world.id for world in worlds if world.name == "Norrath"), None)
            for _ in range(self.choice.randrange(4) if norrath else 0):
                await self._one_character(client, norrath or 0, account)
        finally:
            await client.stop() if self.over else await client.close()
            self.clients.remove(client)

    async def _one_character(self, client: ClientConnection, world: int, account: str) -> None:
        promises = self.promises
        name = promises.new_name("Hero")
        if (await client.create(world, name)).ok:
            promises.characters[name] = account
        if self.choice.random() < 0.3:
            promises.asked_to_delete.add(name)
            if (await client.delete(name)).ok:
                promises.deleted.add(name)

    async def _worlds(self) -> None:
        """Let unknown worlds register; a world counts once a client has seen it."""
        while not self.over:
            name = self.promises.new_name("World")
            try:
                world = await connect_world(reactor, self.server.link_port)
            except ConnectError:
                assert self.over
                return
            world.write(frame(0x1000, ls_info(name.encode(), name=name.encode())))
            world.status()
            await sleep(0.03)
            if f"world {name} " in self.server.text and world.is_connected:
                self.promises.worlds.add(name)
            await world.hang_up()


@pytest.mark.slow
async def test_what_clients_were_sent_survives_kill_9(tmp_path: Path) -> None:
    choice = random.Random(SEED)
    promises = Promises()
    for number in range(1, ROUNDS + 1):
        async with server_process(tmp_path, SETTINGS) as server:
            await server.line(r"world Norrath \(1\) registered")
            life = Round(server, promises, choice)
            work = life.begin()
            await sleep(choice.uniform(0.1, 0.8))
            if number == ROUNDS:  # a slow machine may have promised little until now
                await until(promises.are_enough, "promises of each kind")
            await life.end()
            await work
        promises.check(tmp_path / "emu.sqlite")
    await whoever_comes_back_finds_everything(tmp_path, promises)


async def whoever_comes_back_finds_everything(folder: Path, promises: Promises) -> None:
    """Log in to some accounts again and compare their character lists."""
    async with server_process(folder, SETTINGS) as server:
        await server.line(r"world Norrath \(1\) registered")
        for account in sorted(promises.accounts)[:10]:
            client = await connect(
                reactor, HOST, server.login_port, account, "secret", version=1208
            )
            async with client:
                await client.login()
                await client.worlds()
                listed = {one.name for one in await client.characters()}
                kept = {name for name, owner in promises.characters.items() if owner == account}
                assert kept - promises.asked_to_delete <= listed
                assert not listed & promises.deleted
