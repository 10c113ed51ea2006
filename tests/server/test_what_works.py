"""The README's table of what works with which client version is what a client of ours finds."""

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Heard, LineShown, WhoListed, WorldEvent, ZoneLeft
from emu.errors import CommandError
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from tests.support.running.documented import README
from tests.support.running.whole_server import HOST, Harness, harness
from tests.support.sessions.raw_client import by_number, raw_client

pytestmark = pytest.mark.usefixtures("collect_garbage")
LOGIN_REPLY = 4
ROWS = (
    "log in, make a character, get a key for the world",
    "be let in by the world",
    "load a zone and stand in it",
    "use commands",
    "hear what is said",
    "see others",
    "walk",
    "camp",
    "change the zone",
)
Check = Callable[[ClientWorldConnection, list[WorldEvent]], Awaitable[None]]


def documented() -> dict[int, dict[str, bool]]:
    """Return the README's table: for each version, what it can do."""
    header, *rows = [
        line for line in README.splitlines() if line.startswith(("| A client", "| can "))
    ]
    versions = [int(one) for one in re.findall(r"\d+", header)]
    reported: dict[int, dict[str, bool]] = {version: {} for version in versions}
    for row in rows:
        what, *cells = [cell.strip() for cell in row.strip("|").split("|")]
        for version, cell in zip(versions, cells, strict=True):
            reported[version][what.removeprefix("can ")] = {"yes": True, "no": False}[cell]
    return reported


async def commands(client: ClientWorldConnection, events: list[WorldEvent]) -> None:
    client.act(lambda core: core.command("/who"))
    await client.until(lambda: any(isinstance(one, WhoListed) for one in events), "the list")


async def hears(client: ClientWorldConnection, events: list[WorldEvent]) -> None:
    client.act(lambda core: core.command("/say hello"))
    await client.until(lambda: any(isinstance(one, Heard) for one in events), "the words")


async def sees(client: ClientWorldConnection, _events: list[WorldEvent]) -> None:
    seen = client.core.surroundings
    await client.until(lambda: seen is not None and len(seen) > 1, "others")


async def walks(client: ClientWorldConnection, events: list[WorldEvent]) -> None:
    """Walk, and have the world say where that has led to."""
    at = client.core.place
    client.walk_to(at.x + 1.0, at.y, at.z)
    await client.until(lambda: client.core.walker.goal is None, "the goal")
    client.act(lambda core: core.command("/loc"))
    here = f"{at.x + 1.0:.2f}, "
    await client.until(
        lambda: any(isinstance(one, LineShown) and here in one.text for one in events), "the place"
    )


async def camps(client: ClientWorldConnection, _events: list[WorldEvent]) -> None:
    client.act(WorldClientCore.camp)
    await client.until(lambda: client.core.phase is WorldPhase.CLOSED, "the end", timeout=25.0)


async def changes_zone(client: ClientWorldConnection, events: list[WorldEvent]) -> None:
    client.act(lambda core: core.command("/zone Antonica"))
    await client.until(lambda: any(isinstance(one, ZoneLeft) for one in events), "the way")
    await client.stand()


CHECKS: tuple[Check, ...] = (commands, hears, sees, walks, changes_zone, camps)
NAMES = ("use commands", "hear what is said", "see others", "walk", "change the zone", "camp")


async def let_in(server: Harness, entrance: Entrance) -> bool:
    """Get a key and show it as bytes written by hand; say whether the world accepts it."""
    who = entrance.credentials
    async with await server.begun(who.user, who.password, version=entrance.version) as login:
        answer = await login.run(granted(login.core, entrance))
    async with raw_client(answer.port) as client:
        await client.enter(by_number(answer.account_id, answer.access_code, entrance.version))
        return (await client.message(LOGIN_REPLY))[0] == 0


async def found(server: Harness, version: int) -> dict[str, bool]:
    """Try everything with one version."""
    can = dict.fromkeys(ROWS, False)
    who = Credentials("testlabs", "testpass")
    entrance = Entrance(who, "Aldana", create=True, version=version)
    can[ROWS[0]] = True
    can[ROWS[1]] = await let_in(server, entrance)
    await server.log.line("Aldana from 127.0.0.1 left")
    server.make_game_master("Aldana")  # who may change the zone by a command
    events: list[WorldEvent] = []
    try:
        client = await enter_world(
            server.clock, HOST, server.login_port, entrance, on_event=events.append, timeout=3.0
        )
    except CommandError:
        return can
    can[ROWS[2]] = True
    async with client:
        for name, check in zip(NAMES, CHECKS, strict=True):
            try:
                await check(client, events)
            except CommandError:
                continue
            can[name] = True
    return can


def write_column(version: int, can: dict[str, bool]) -> None:
    """Write the results of one version into the README's table."""
    path = Path(__file__).parent.parent.parent / "README.md"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (header,) = [line for line in lines if line.startswith("| A client")]
    column = [cell.strip() for cell in header.split("|")].index(str(version))
    for number, line in enumerate(lines):
        if line.startswith("| can "):
            cells = line.split("|")
            name = cells[1].strip().removeprefix("can ")
            cells[column] = " yes " if can[name] else " no "
            lines[number] = "|".join(cells)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.mark.parametrize("version", list(documented()))
async def test_the_table_is_true(tmp_path: Path, version: int) -> None:
    """Compare the README's table with what a client finds, or write the table."""
    async with harness(tmp_path, speed=4) as server:
        await server.world_registered()
        can = await found(server, version)
    if os.environ.get("EMU_WRITE_VERSIONS"):
        write_column(version, can)
    else:
        assert can == documented()[version]


def test_the_table_has_every_row() -> None:
    assert all(list(row) == list(ROWS) for row in documented().values())
    assert {546, 561} <= documented().keys()
