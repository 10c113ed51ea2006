"""Players of several client versions over real UDP, read by `tests.support.world.newer_bytes`."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from tests.support.running.whole_server import Harness, add_account, until
from tests.support.sessions.raw_client import RawClient, by_number, raw_client
from tests.support.world.newer_bytes import NewerReader, NewerWriter

HUMAN, BARBARIAN = 9, 0


class Colors(NamedTuple):
    """Colors of a new character, each red, green and blue from 0 to 1."""

    eyes: list[float]
    hair: list[float]


DEFAULT_COLORS = Colors([0.2, 0.35, 0.55], [0.32, 0.2, 0.1])


class Player:
    """One client in the world, with what it was sent."""

    def __init__(self, version: int, link: RawClient) -> None:
        self.version = version
        self.name = name_of(version)
        self.link = link
        self.reader = NewerReader(version)
        self.writer = NewerWriter(version)
        self.commands: list[str] = []

    def read(self) -> NewerReader:
        """Read what has come since the last time."""
        for opcode, body in self.link.messages:
            if opcode == self.writer.facts.remote_cmd - 1:
                self.commands = list(names(body))
            self.reader.take(opcode, body)
        self.link.messages.clear()
        return self.reader

    def calls(self, line: str) -> None:
        """Call a command as the client's interface does: by its position, with its arguments."""
        name, _, words = line.partition(" ")
        self.link.send(self.writer.say(self.commands.index(name), words))

    def took(self, opcode: int) -> list[bytes]:
        """Return the bodies of all messages of a number that it was sent."""
        self.read()
        return [body for number, body in self.reader.messages if number == opcode]

    async def enter(self, account: int, key: int) -> None:
        await self.link.enter(by_number(account, key, self.version))
        await until(lambda: self.read().zone, f"ZoneInfo at {self.version}")
        self.link.send(self.writer.loaded())
        self.link.send(self.writer.entities_loaded())
        await until(lambda: self.read().find(self.name), f"the own ghost at {self.version}")
        self.link.send(self.writer.ready())


def names(body: bytes) -> list[str]:
    """Return the texts of SetRemoteCmds: u16 count, each with u8 length."""
    (count,) = struct.unpack_from("<H", body)
    found, at = [], 2
    for _ in range(count):
        found.append(body[at + 1 : at + 1 + body[at]].decode())
        at += 1 + body[at]
    return found


def name_of(version: int) -> str:
    return "V" + "".join(chr(ord("a") + int(digit)) for digit in str(version)) + "x"


@asynccontextmanager
async def entered(
    server: Harness, *versions: int, colors: Mapping[int, Colors] | None = None
) -> AsyncIterator[dict[int, Player]]:
    """Make an account and a character for each version, and enter with all of them."""
    async with AsyncExitStack() as stack:
        players: dict[int, Player] = {}
        for place, version in enumerate(versions):
            user = f"user{version}"
            add_account(server.database, user, "pass")
            async with await server.logged_in(user, "pass", version=version) as login:
                await login.worlds()
                await login.characters()
                looks = (colors or {}).get(version, DEFAULT_COLORS)
                created = await login.create(
                    1,
                    name_of(version),
                    race=HUMAN,
                    level=1,
                    starting_zone=0,
                    eye_color=looks.eyes,
                    hair_color1=looks.hair,
                )
                assert created.ok
                if version <= 561:
                    await login.play_answer()
                answer = await login.play(name_of(version))
            link = await stack.enter_async_context(raw_client(answer.port, 0x5000 + place))
            player = players[version] = Player(version, link)
            await player.enter(answer.account_id, answer.access_code)
        yield players
