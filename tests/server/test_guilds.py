"""Guilds over real UDP: windows of three client versions, and kill -9 of the server."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import events
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.whole_server import (
    HOST,
    ServerProcess,
    harness,
    reactor,
    rows,
    server_process,
    until,
)
from tests.support.world.guild_bytes import (
    GuildWindow,
    MemberRow,
    guild_member,
    guild_members,
    guild_update,
)
from tests.support.world.newer_bytes import text
from tests.support.world.newer_players import Player, entered

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("collect_garbage")]


class Numbers(NamedTuple):
    """The numbers of the guild messages (docs/protocol/opcodes.md#world-numbers)."""

    update: int
    members: int
    left: int
    member: int
    offer: int
    camp: int


NUMBERS = {
    546: Numbers(110, 289, 290, 291, 438, 42),
    1208: Numbers(124, 356, 357, 358, 618, 50),
    60114: Numbers(126, 360, 361, 362, 643, 52),
}


def offer(player: Player) -> tuple[str, str]:
    """Return inviter and guild of the last invitation."""
    body = player.took(NUMBERS[player.version].offer)[-1]
    assert body[0] == 2
    inviter, at = text(body, 1)
    guild, at = text(body, at + (1 if player.version <= 561 else 2))
    assert at == len(body)
    return inviter, guild


def window(player: Player) -> GuildWindow | None:
    sent = player.took(NUMBERS[player.version].update)
    return guild_update(sent[-1], player.version) if sent else None


def listed(player: Player) -> dict[str, MemberRow]:
    sent = player.took(NUMBERS[player.version].members)
    rows = guild_members(sent[-1], player.version)[2] if sent else []
    return {row.name: row for row in rows}


async def test_each_version_has_its_guild_window(tmp_path: Path) -> None:
    async with harness(tmp_path, speed=4) as server:
        await server.world_registered()
        async with entered(server, *NUMBERS) as players:
            leader, *others = players.values()
            leader.calls("guild create The Wolves")
            await until(lambda: window(leader), "the leader's window")
            for other in others:
                leader.calls(f"guild invite {other.name}")
                number = NUMBERS[other.version].offer
                await until(lambda other=other, n=number: other.took(n), "an invitation")  # type: ignore[misc]
                assert offer(other) == (leader.name, "The Wolves")
                other.calls("guild accept")
                await until(lambda other=other: other.name in listed(leader), "the new member")  # type: ignore[misc]
            everybody = list(players.values())
            for player in everybody:
                await until(lambda player=player: len(listed(player)) == 3, "all members")  # type: ignore[misc]
                rows = listed(player)
                assert {row.rank for row in rows.values()} == {0, 7}
                assert all(row.zone for row in rows.values())
                shown = window(player)
                assert shown is not None
                assert (shown.name, shown.ranks[0][0]) == ("The Wolves", "Leader")
            for speaker in everybody:
                speaker.calls(f"guildsay I am {speaker.version}")
                said = speaker.name, f"I am {speaker.version}"
                for hearer in everybody:
                    await until(lambda one=hearer, said=said: said in one.read().said, "guild chat")  # type: ignore[misc]
            last = others[-1]
            leader.calls(f"guild promote {last.name}")
            await until(lambda: listed(last)[last.name].rank == 6, "the new rank")
            leader.calls(f"guild kick {last.name}")
            numbers = NUMBERS[last.version]
            await until(lambda: last.took(numbers.left), "the end of the membership")
            await until(lambda: window(last).guild_id == 0, "an empty window")  # type: ignore[union-attr]
            others[0].link.send(bytes([NUMBERS[others[0].version].camp, 1, 1]))
            await until(lambda: _is_gone(leader, others[0].name), "the member has left the world")


def _is_gone(player: Player, name: str) -> bool:
    sent = player.took(NUMBERS[player.version].member)
    last = guild_member(sent[-1], player.version)[1] if sent else None
    return last is not None and (last.name, last.zone) == (name, "")


async def come(
    server: ServerProcess, name: str, version: int
) -> tuple[ClientWorldConnection, list[events.WorldEvent]]:
    entrance = Entrance(Credentials(name.lower(), "secret"), name, create=True, version=version)
    seen: list[events.WorldEvent] = []
    client = await enter_world(reactor, HOST, server.login_port, entrance, on_event=seen.append)
    return client, seen


def shown(seen: list[events.WorldEvent], kind: type[events.WorldEvent]) -> list[events.WorldEvent]:
    return [event for event in seen if isinstance(event, kind)]


async def test_a_guild_survives_kill_9(tmp_path: Path) -> None:
    settings = {"login.auto_create_accounts": True}
    async with server_process(tmp_path, settings) as server:
        await server.line(r"world Norrath \(1\) registered")
        one, seen_by_one = await come(server, "Aldana", 546)
        two, seen_by_two = await come(server, "Borvik", 546)
        one.command("guild create The Wolves")
        await one.until(lambda: shown(seen_by_one, events.GuildShown), "the guild")
        one.command("guild motd Meet at the inn")
        one.command("guild invite Borvik")
        await two.until(lambda: shown(seen_by_two, events.GuildOffered), "the invitation")
        assert shown(seen_by_two, events.GuildOffered) == [
            events.GuildOffered("Aldana", "The Wolves")
        ]
        two.command("guild accept")
        await two.until(lambda: shown(seen_by_two, events.GuildMembersListed), "the members")
        # Killed as soon as the client has been shown it.
        server.kill()
        await one.stop()
        await two.stop()
    names = (
        "SELECT world_characters.name, place FROM guild_members"
        " JOIN world_characters ON id = character_id"
    )
    assert sorted(rows(tmp_path / "emu.sqlite", names)) == [("Aldana", 0), ("Borvik", 7)]
    async with server_process(tmp_path, settings) as server:
        await server.line(r"world Norrath \(1\) registered")
        two, seen = await come(server, "Borvik", 546)
        await two.until(lambda: shown(seen, events.GuildMembersListed), "the members")
        guild = shown(seen, events.GuildShown)[-1]
        assert isinstance(guild, events.GuildShown)
        assert (guild.name, guild.motd, guild.ranks[0]) == (
            "The Wolves",
            "Meet at the inn",
            "Leader",
        )
        members = shown(seen, events.GuildMembersListed)[-1]
        assert isinstance(members, events.GuildMembersListed)
        assert [(row.name, row.rank, bool(row.zone)) for row in members.members] == [
            ("Aldana", 0, False), ("Borvik", 7, True),
        ]  # fmt: skip
        await two.stop()
