"""Six client versions in one zone over real UDP: each sees, and hears, all the others.

The clients are sockets with `tests.support.world.newer_bytes`: nothing of ours reads or writes what
they exchange with the world.
"""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.support.running.whole_server import Harness, add_account, harness, until
from tests.support.sessions.raw_client import RawClient, by_number, raw_client
from tests.support.world.newer_bytes import FACTS, NewerReader, NewerWriter

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("collect_garbage")]
STANDING, SITTING = 539, 538
HUMAN, BARBARIAN = 9, 0


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
async def entered(server: Harness, *versions: int) -> AsyncIterator[dict[int, Player]]:
    """Make an account and a character for each version, and enter with all of them."""
    async with AsyncExitStack() as stack:
        players: dict[int, Player] = {}
        for place, version in enumerate(versions):
            user = f"user{version}"
            add_account(server.database, user, "pass")
            async with await server.logged_in(user, "pass", version=version) as login:
                await login.worlds()
                await login.characters()
                created = await login.create(
                    1, name_of(version), race=HUMAN, level=1, starting_zone=0
                )
                assert created.ok
                if version <= 561:
                    await login.play_answer()
                answer = await login.play(name_of(version))
            link = await stack.enter_async_context(raw_client(answer.port, 0x5000 + place))
            player = players[version] = Player(version, link)
            await player.enter(answer.account_id, answer.access_code)
        yield players


async def sees(player: Player, other: Player) -> None:
    await until(
        lambda: player.read().find(other.name), f"{other.version} is seen by {player.version}"
    )


async def test_all_of_them_see_and_hear_each_other(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=4) as server:
        await server.world_registered()
        async with entered(server, *FACTS) as players:
            everybody = list(players.values())
            for player in everybody:
                for other in everybody:
                    await sees(player, other)
            own = {one.version: one.read().find(one.name) for one in everybody}
            for player in everybody:
                for other in everybody:
                    seen, itself = player.read().find(other.name), own[other.version]
                    assert seen is not None
                    assert itself is not None
                    assert seen.place == pytest.approx(itself.place, abs=0.01)
                    assert seen.looks == itself.looks == (HUMAN, *itself.looks[1:3], 1)
                    assert seen.skin == itself.skin
                    assert seen.is_player or player.version < 562
            await walk_and_rest(everybody)
            await aim(everybody)
            await speak(everybody)
            await leave(everybody)


async def walk_and_rest(everybody: list[Player]) -> None:
    """Each goes a step; the others are shown place, heading and posture."""
    for number, player in enumerate(everybody):
        itself = player.read().find(player.name)
        assert itself is not None
        x, y, z = itself.place
        heading = (90.0, 300.0, -60.0)[number % 3]
        player.link.send(player.writer.step((x, y, z), heading, 0.0))
        player.link.send(player.writer.step((x + 0.5, y, z), heading, 4.5))
        player.link.send(player.writer.sit())
        for other in everybody:
            if other is player:
                continue

            def moved(other: Player = other, player: Player = player, x: float = x) -> bool:
                seen = other.read().find(player.name)
                return (
                    seen is not None
                    and abs(seen.place[0] - x - 0.5) < 0.01
                    and seen.visual == SITTING
                )

            await until(moved, f"{other.version} sees {player.version} walk and sit")
            seen = other.read().find(player.name)
            assert seen is not None
            assert (seen.heading, seen.speed) == (int(heading % 360 * 64), 1152)


async def aim(everybody: list[Player]) -> None:
    """Each targets the next one; the others are shown their own index of the target."""
    for player, target in zip(everybody, [*everybody[1:], everybody[0]], strict=True):
        player.link.send(player.writer.aim(player.read().index_of(target.name)))
        for other in everybody:
            if other is player:
                continue

            def aimed(
                other: Player = other, player: Player = player, target: Player = target
            ) -> bool:
                seen = other.read().find(player.name)
                index = other.read().index_of(target.name)
                return seen is not None and seen.target == 0xFFFFFFFF - index

            await until(aimed, f"{other.version} sees the target of {player.version}")


async def speak(everybody: list[Player]) -> None:
    for player in everybody:
        words = f"I am {player.version}"
        player.link.send(player.writer.say(player.commands.index("say"), words))
        for other in everybody:
            await until(
                lambda other=other, said=(player.name, words): said in other.read().said,  # type: ignore[misc]
                f"{other.version} hears {player.version}",
            )


async def leave(everybody: list[Player]) -> None:
    """One quits to the desktop; its ghost vanishes. Everybody has had a whole sheet."""
    for player in everybody:
        assert player.read().sheet.startswith(player.name.encode())
    first, *others = everybody
    camp = {546: 42}[first.version]
    first.link.send(bytes([camp, 1, 1]))
    for other in others:
        await until(lambda other=other: first.name in other.read().gone, "it vanishes")  # type: ignore[misc]
