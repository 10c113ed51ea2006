"""Six client versions in one zone over real UDP: each sees, and hears, all the others.

The clients are sockets with `tests.support.world.newer_bytes`: nothing of ours reads or writes what
they exchange with the world.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running.whole_server import harness, until
from tests.support.world.newer_bytes import FACTS
from tests.support.world.newer_players import HUMAN, Player, entered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("collect_garbage")]
STANDING, SITTING = 539, 538


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
