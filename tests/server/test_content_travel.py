"""A client travels from the Isle of Refuge to Qeynos in the real content: bells, doors, signs.

It needs a content file (EMU_CONTENT) and the scripts (EMU_CONTENT_SCRIPTS). The bell of the isle
asks for a quest that the character has completed.
"""

import math
import os
import sqlite3
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance, granted
from emu.client.world.events import LineShown
from emu.client.world.surroundings import Place
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.quests.journal import Completion, Journal
from emu.times import Moment
from tests.support.running.whole_server import HOST, Harness, harness

CONTENT = os.environ.get("EMU_CONTENT", "")
SCRIPTS = os.environ.get("EMU_CONTENT_SCRIPTS", "")
pytestmark = pytest.mark.skipif(
    not (CONTENT and SCRIPTS), reason="no real content on this machine (EMU_CONTENT)"
)
TO_QEYNOS = 5717
"""The quest at whose end the bell of the isle rings for Qeynos."""
GATES = Place(424.0, -11.5, 310.0)
DOOR = Place(570.0, -14.7, 198.0)
HARBOR = Place(785.0, -17.3, 177.0)
NEAR = 5.0


class Traveller:
    """A client that goes to what it uses."""

    def __init__(self, client: ClientWorldConnection, events: list[object]) -> None:
        self.client = client
        self.core = client.core
        self.events = events

    async def find(self, name: str) -> int:
        """Wait until a ghost is there, by its name, and return its index."""

        def found() -> int | None:
            seen = self.core.surroundings
            return seen.find(name) if seen is not None else None

        await self.client.until(lambda: found() is not None, f"to see {name}", timeout=60.0)
        index = found()
        assert index is not None
        return index

    async def approach(self, index: int, distance: float = 3.0) -> None:
        """Run to a ghost."""
        assert self.core.surroundings is not None
        at = self.core.surroundings.place(index)
        await self.run_to(Place(at.x - distance, at.y, at.z))

    async def run_to(self, place: Place) -> None:
        """Run to a place; begin again if the server puts the client back while it enters."""
        for _ in range(5):
            await self.pause(1.0)
            self.client.walk_to(place.x, place.y, place.z, 20.0)
            await self.client.until(
                lambda: self.core.walker.goal is None, "to arrive", timeout=300.0
            )
            # The server learns of the last step.
            await self.pause(1.0)
            here = self.core.place
            if math.hypot(here.x - place.x, here.z - place.z) < NEAR:
                return

    async def choose(self, choice: str) -> None:
        """Choose an option of the open window, or an answer of the dialog by its beginning."""
        core = self.core
        await self.client.until(
            lambda: core.dialog is not None or core.options is not None, "a dialog", timeout=20.0
        )
        if core.options is not None:
            self.client.act(lambda core: core.choose(choice))
            return
        assert core.dialog is not None
        choices = core.dialog.choices
        number = next(n for n, text in enumerate(choices, 1) if text.strip().startswith(choice))
        self.client.act(lambda core: core.answer(number))

    async def enters(self, description: str) -> None:
        """Wait until the client stands in a zone."""
        await self.client.until(
            lambda: self.core.zone is not None and self.core.zone.description == description,
            f"to enter {description}", timeout=60.0,
        )  # fmt: skip
        await self.client.stand()

    async def pause(self, seconds: float) -> None:
        await self.client.pause(seconds)


async def leave_the_isle(one: Traveller) -> None:
    bell = await one.find("Leave the Isle of Refuge")
    one.client.act(lambda core: core.use(bell))
    await one.client.until(
        lambda: any(isinstance(event, LineShown) and "far" in event.text for event in one.events),
        "to hear that it is too far away", timeout=20.0,
    )  # fmt: skip
    assert one.core.dialog is None
    await one.approach(bell)
    one.client.act(lambda core: core.use(bell))
    await one.choose("Leave for Qeynos")
    await one.choose("Nettleville Hovel")
    await one.enters("Nettleville Hovel")


async def take_a_bell(one: Traveller) -> None:
    """Use the bells of Nettleville until one has the way to Antonica in its window."""
    await one.find("mariners_bell")
    await one.pause(3.0)
    seen = one.core.surroundings
    assert seen is not None
    for bell in [index for index in seen if seen.name(index) == "mariners_bell"]:
        await one.approach(bell)
        one.client.act(lambda core, bell=bell: core.use(bell))  # type: ignore[misc]
        await one.client.until(lambda: one.core.ways, "the window of ways", timeout=20.0)
        if one.core.ways is not None and any(way.name == "Antonica" for way in one.core.ways.ways):
            break
        one.core.ways = None
    one.client.act(lambda core: core.travel("Antonica"))
    await one.enters("Antonica")


async def follow_the_sign(one: Traveller, name: str, zone: str, *way: Place) -> None:
    for place in way:
        await one.run_to(place)
    sign = await one.find(name)
    await one.approach(sign)
    one.client.act(lambda core: core.use(sign))
    await one.enters(zone)


async def open_a_door(one: Traveller) -> None:
    await one.run_to(DOOR)
    door = await one.find("door_widget13")
    seen = one.core.surroundings
    assert seen is not None
    closed = seen.place(door).heading
    one.client.act(lambda core: core.use(door))
    await one.client.until(
        lambda: seen.place(door).heading != closed, "the door to open", timeout=20.0
    )
    await one.client.until(
        lambda: seen.place(door).heading == closed, "the door to close", timeout=20.0
    )


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
async def test_from_the_isle_of_refuge_to_qeynos(tmp_path: Path, version: int) -> None:
    settings = {"world.content": CONTENT, "world.scripts": SCRIPTS}
    events: list[object] = []
    async with harness(tmp_path, settings, accounts={"aldana": "pass"}, speed=10) as server:
        await server.world_registered()
        one = Traveller(await entered(server, version, events), events)
        await one.enters("Isle of Refuge")
        await leave_the_isle(one)
        await take_a_bell(one)
        await follow_the_sign(one, "zone_to_qey_south", "South Qeynos", GATES)
        await open_a_door(one)
        await follow_the_sign(one, "zone_to_qey_harbor", "Qeynos Harbor", HARBOR)
        assert "fault" not in server.log.text.casefold()


async def entered(
    server: Harness, version: int, events: list[object], coins: int = 0, rank: int = 0
) -> ClientWorldConnection:
    """Make a character that begins on the isle and has done its last quest, and enter."""
    journal = Journal()
    journal.completed[TO_QEYNOS] = Completion(1, Moment(0.0))
    entrance = Entrance(Credentials("aldana", "pass"), "Aldana", create=True, version=version)
    async with await server.begun("aldana", "pass", version=version) as login:
        await login.run(granted(login.core, entrance))
    with sqlite3.connect(server.database) as database:
        database.execute(
            "UPDATE world_characters SET zone_id = 325, client_version = ?, coins = ?,"
            " admin_status = ?, quests = ?",
            (version, coins, rank, journal.text),
        )
    database.close()
    client = await enter_world(
        server.clock, HOST, server.login_port, entrance, on_event=events.append
    )
    await client.stand()
    return client
