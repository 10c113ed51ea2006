"""Six client versions in one zone over real UDP: each sees, and hears, all the others.

The clients are sockets with `tests.support.world.newer_bytes`: nothing of ours reads or writes what
they exchange with the world.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running.whole_server import harness, until
from tests.support.world.newer_bytes import FACTS
from tests.support.world.newer_players import HUMAN, Colors, Player, entered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("collect_garbage")]
STANDING, SITTING = 539, 538
COLORS = {
    version: Colors([0.0625 + 0.125 * place, 0.5, 0.9375], [0.75, 0.125 * place, 0.3125])
    for place, version in enumerate(FACTS)
}
"""Of eyes and hair, different for each player."""


async def sees(player: Player, other: Player) -> None:
    await until(
        lambda: player.read().find(other.name), f"{other.version} is seen by {player.version}"
    )


async def test_all_of_them_see_and_hear_each_other(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=4) as server:
        await server.world_registered()
        async with entered(server, *FACTS, colors=COLORS) as players:
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
                    # docs/protocol/characters.md: the creating client's version decides.
                    scale = 250 if other.version <= 561 else 255
                    eyes, hair = COLORS[other.version]
                    assert seen.eyes == tuple(int(part * scale) for part in eyes)
                    assert seen.hair == tuple(int(part * scale) for part in hair)
                    assert seen.is_player or player.version < 562
            await walk_and_rest(everybody)
            await aim(everybody)
            await speak(everybody)
            await ask_who(everybody)
            await use_verbs(everybody)
            await group(everybody)
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


async def ask_who(everybody: list[Player]) -> None:
    """Each asks who is in the world."""
    for player in everybody:
        player.calls("who all")
        await until(lambda one=player: one.took(one.writer.facts.who), "the answer to who")  # type: ignore[misc]
        rows = {row.name: row for row in player.read().who()}
        assert sorted(rows) == sorted(one.name for one in everybody)
        own = player.read().find(player.name)
        assert own is not None
        assert {row.zone for row in rows.values()} == {"Isle of Refuge"}
        assert {row.level for row in rows.values()} == {1}
        assert {row.race for row in rows.values()} == {HUMAN}
        assert rows[player.name].klass == own.looks[2]


async def use_verbs(everybody: list[Player]) -> None:
    """Each asks for the verbs of a creature, and chooses the first: it hails the creature."""
    for player in everybody:
        ghosts = player.read().ghosts
        index, host = next(
            (index, one) for index, one in ghosts.items() if one.default.lower() == "hail"
        )
        player.link.send(player.writer.ask_verbs(index))
        reply = player.writer.facts.verbs + 1
        await until(lambda one=player, reply=reply: one.took(reply), "the verbs")  # type: ignore[misc]
        ((command, _distance, shown),) = player.read().verbs_of(index)
        assert (command, shown) == ("hail", "Hail")
        # Older versions send the text that they show, newer ones the command.
        chosen = command if player.writer.facts.wide_verbs else shown
        player.link.send(player.writer.use(index, chosen))
        said = player.name, f"Hail, {host.name}"
        for other in everybody:
            await until(lambda one=other, said=said: said in one.read().said, "the greeting")  # type: ignore[misc]


async def group(everybody: list[Player]) -> None:
    """The first invites all others; each has the five others in its sheet, and hears them."""
    leader, *others = everybody
    for other in others:
        leader.calls(f"invite {other.name}")
        invited = f"{leader.name} invites you to a group: accept or decline."
        await until(lambda one=other, line=invited: line in one.read().lines, "the invitation")  # type: ignore[misc]
        other.calls("acceptinvite")
        await until(
            lambda name=other.name: name in {row.name for row in leader.read().group},  # type: ignore[misc]
            f"{other.version} is in the group",
        )
    for player in everybody:
        names = {one.name for one in everybody if one is not player}
        await until(
            lambda one=player, names=names: {row.name for row in one.read().group} == names,  # type: ignore[misc]
            f"the whole group at {player.version}",
        )
        for row in player.read().group:
            ghost = player.read().ghosts[row.ghost]
            assert (ghost.name, row.zone) == (row.name, "Isle of Refuge")
            assert (row.race, row.klass, row.level) == (HUMAN, ghost.looks[2], 1)
            # docs/protocol/world/fights.md#pools: 2 + 40, and 3 for each of 20 points of stamina.
            assert row.health == 102
    for speaker in everybody:
        speaker.calls(f"gsay we are {speaker.version}")
        said = speaker.name, f"we are {speaker.version}"
        for other in everybody:
            await until(lambda one=other, said=said: said in one.read().said, "group chat")  # type: ignore[misc]
    leader.calls("disband")
    for player in everybody:
        await until(lambda one=player: not one.read().group, f"no group at {player.version}")  # type: ignore[misc]


async def leave(everybody: list[Player]) -> None:
    """One quits to the desktop; its ghost vanishes. Everybody has had a whole sheet."""
    for player in everybody:
        assert player.read().sheet.startswith(player.name.encode())
    first, *others = everybody
    camp = {546: 42}[first.version]
    first.link.send(bytes([camp, 1, 1]))
    for other in others:
        await until(lambda other=other: first.name in other.read().gone, "it vanishes")  # type: ignore[misc]
