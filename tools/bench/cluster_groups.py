"""The scene `groups` of `tools.bench.cluster_faults`: a group of three nodes, in faults.

The lines of texts are those that players see.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from twisted.internet.threads import deferToThread

from emu.client.world.events import Heard
from emu.database import ServerUrl
from emu.world.groups.shared import NOT_NOW
from tools.bench.cluster_world import (
    ANTONICA,
    ISLE,
    Bot,
    Cluster,
    Findings,
    emu,
    enter_all,
    leave_all,
    masters,
    reactor,
    sleep,
    together,
    waited,
)

FREEPORT: Final = ("SouthFreeport", "South Freeport")
ZONES: Final = (ISLE, ANTONICA, FREEPORT)
SAYS: Final = 40
MOVES: Final = 5
RACES: Final = 20
LOST: Final = 20.0
"""Seconds after which a killed node must be forgotten."""


async def answer(bot: Bot, line: str, seconds: float = 5.0) -> list[str]:
    """Return the lines that a command is answered with; none without an answer."""
    seen = len(bot.events)
    bot.command(line)
    await waited(lambda: bot.lines(seen), seconds)
    return bot.lines(seen)


async def members(bot: Bot) -> str:
    """Return the members of a bot's group, the leader first, as it sees them."""
    lines = await answer(bot, "whogroup")
    return next((line for line in lines if ", " in line), lines[-1] if lines else "no answer")


async def lists(bots: Sequence[Bot]) -> set[str]:
    """Return the lists of members that bots see."""
    return set(await together([members(bot) for bot in bots]))


async def join(leader: Bot, guests: Sequence[Bot]) -> float | None:
    """Form a group; return the seconds until all have the same list, None if they never do."""
    begun = reactor.seconds()
    for guest in guests:
        await answer(leader, f"invite {guest.name}")
        await waited(lambda: any("invites you" in line for line in guest.lines()), 5)  # noqa: B023
        await answer(guest, "accept")
    names = ", ".join(bot.name for bot in (leader, *guests))
    while reactor.seconds() - begun < 10:
        if await lists([leader, *guests]) == {names}:
            return float(reactor.seconds() - begun)
        await sleep(0.1)
    return None


async def says(bots: Sequence[Bot]) -> list[float]:
    """Let each bot speak to the group several times; return when each of the others heard it."""
    found: list[float] = []
    for number in range(SAYS):
        speaker, text = bots[number % len(bots)], f"say number {number} {reactor.seconds()}"
        others = [bot for bot in bots if bot is not speaker]
        before = [len(bot.events) for bot in others]
        begun = reactor.seconds()
        speaker.command(f"gsay {text}")
        for bot, since in zip(others, before, strict=True):
            heard = await waited(
                lambda: any(
                    isinstance(one, Heard) and one.text == text  # noqa: B023
                    for one in bot.events[since:]  # noqa: B023
                ), 5,
            )  # fmt: skip
            found.append(5.0 if heard is None else reactor.seconds() - begun)
        await sleep(0.3)
    return found


async def until_possible(bot: Bot, line: str, seconds: float) -> float | None:
    """Repeat a command until groups can be changed; return the seconds until then."""
    begun = reactor.seconds()
    while reactor.seconds() - begun < seconds:
        lines = await answer(bot, line)
        if lines and NOT_NOW not in lines:
            return float(reactor.seconds() - begun)
        await sleep(0.5)
    return None


async def groups(note: Findings, folder: Path, where: ServerUrl) -> None:
    """Form groups across three nodes, while members travel and nodes are drained and killed."""
    cluster = Cluster(folder, where)
    bots = [Bot(cluster, number, "group") for number in range(3)]
    try:
        await cluster.start_three(node__drain_wait=20)
        zones = [FREEPORT[0]]
        await cluster.start("south", login__enabled=False, node__zones=zones, node__drain_wait=20)
        await enter_all(bots)
        masters(cluster, apart=False)
        await leave_all(bots)
        await sleep(1.5)
        await enter_all(bots)
        for bot, zone in zip(bots, ZONES, strict=True):
            await bot.travel(*zone)
        nodes = [bot.node for bot in bots]
        note("nodes of the players", "three", nodes, len(set(nodes)) == 3)
        ordered = await until_possible(bots[0], "leavegroup", 20)
        note.at_most("until a node orders the groups after the start", ordered, 15)
        leader, *guests = bots
        note.at_most("a group of three nodes, until all see it", await join(leader, guests), 5)
        times = await says(bots)
        note.at_most("median of a text at another node", median(times) * 1000, 200, "ms")
        note.none("texts that did not arrive", sum(time >= 5.0 for time in times))
        await travels(note, bots)
        await races(note, bots)
        await drained(note, cluster, bots)
        await killed(note, cluster, bots)
    finally:
        await together([bot.drop() for bot in bots])
        cluster.end()


async def travels(note: Findings, bots: Sequence[Bot]) -> None:
    """Let a member go to the nodes of the others and back."""
    names = ", ".join(bot.name for bot in bots)
    wrong: list[object] = []
    for number in range(MOVES):
        await bots[2].travel(*ZONES[number % 2])
        wrong += [one for one in await lists(bots) if one != names]
    await bots[2].travel(*FREEPORT)
    note.none(f"wrong lists after {MOVES} changes of the node", wrong)


async def races(note: Findings, bots: Sequence[Bot]) -> None:
    """Let members change the group at the same time, and compare what all see."""
    one, two, three = bots
    differing: list[object] = []
    for number in range(RACES):
        if number % 2:
            await together([answer(one, f"kickfromgroup {three.name}"), answer(two, "leavegroup")])
        else:
            await together([answer(one, "disband"), answer(three, "leavegroup")])
        await sleep(0.3)
        groups = {one for one in await lists(bots) if one != "you are in no group"}
        if groups:
            differing.append(groups)
        await together([answer(bot, "leavegroup") for bot in bots])
        await sleep(1.0)
        if await join(one, [two, three]) is None:
            differing.append("no group again")
    note.none(f"{RACES} changes at the same time: groups that stayed or did not form", differing)


async def drained(note: Findings, cluster: Cluster, bots: Sequence[Bot]) -> None:
    """Restart the node that orders the groups."""
    names = ", ".join(bot.name for bot in bots)
    name = "east"
    status = await cluster.stop(name)
    possible = await until_possible(bots[1], f"makeleader {bots[1].name}", 20)
    note("exit status of a drained node", "0 or stopped by the signal", status, status in (0, -15))
    note.at_most("until groups can be changed after it", possible, 3)
    await waited(lambda: all(bot.stands for bot in bots), 20)
    note.none("wrong lists after it", [one for one in await lists(bots) if one != names])
    await cluster.start(name)
    await sleep(8)
    note.none("wrong lists when it is back", [one for one in await lists(bots) if one != names])


async def moved(note: Findings, cluster: Cluster, bots: Sequence[Bot]) -> None:
    """Move the zones of the members to a node each, with the players."""
    config = str(cluster.folder / "login" / "emu.toml")
    nodes = ["east", "west", "south"]
    for (zone, _), node in zip(ZONES, nodes, strict=True):
        await deferToThread(emu, "--config", config, "zone", "move", zone, node)
    took = await waited(
        lambda: all(bot.stands for bot in bots) and [bot.node for bot in bots] == nodes, 20
    )
    note.at_most("until all zones and players have been moved", took, 20)
    names = ", ".join(bot.name for bot in bots)
    note.none("wrong lists after it", [one for one in await lists(bots) if one != names])


async def killed(note: Findings, cluster: Cluster, bots: Sequence[Bot]) -> None:
    """Kill the node of a member, then the one that orders."""
    await moved(note, cluster, bots)
    victim, others = bots[2].node, bots[:2]
    begun = reactor.seconds()
    cluster.nodes[victim].kill()
    names = ", ".join(bot.name for bot in others)
    took = None
    while took is None and reactor.seconds() - begun < 2 * LOST:
        if await lists(others) == {names}:
            took = float(reactor.seconds() - begun)
        await sleep(0.5)
    note.at_most("until a killed node's member is forgotten everywhere", took, LOST)
    # The first of the others by name orders now, unless it is the player's own.
    for name in ("login", "east"):
        cluster.nodes[name].kill()
    possible = await until_possible(others[1], "leavegroup", 2 * LOST)
    note.at_most("until groups can be changed after the node that orders was killed", possible,
                 LOST)  # fmt: skip
