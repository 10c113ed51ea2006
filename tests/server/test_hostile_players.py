"""A hostile player among others, over real UDP: what it sends, and that nobody else is shown it."""

import math
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from emu.client import Credentials
from emu.client.flow import Entrance
from emu.client.world import WorldClientCore, WorldPhase
from emu.client.world.events import Heard, WorldEvent
from emu.net.client.world_connection import ClientWorldConnection, enter_world
from emu.world.rules import ChatRules, WorldRules
from tests.support.running.whole_server import HOST, Harness, harness, sleep
from tests.support.sessions.raw_client import by_number

pytestmark = pytest.mark.usefixtures("collect_garbage")
ACCOUNTS = {name: f"{name}pass" for name in ("aldana", "borvik", "mallory")}
FLOOD = 10_000


class Company:
    """Two honest players of both versions, and one who is not."""

    def __init__(self, server: Harness) -> None:
        self.server = server
        self.events: dict[str, list[WorldEvent]] = {name: [] for name in ACCOUNTS}
        self.clients: dict[str, ClientWorldConnection] = {}
        self.said = 0

    async def come(self, name: str, version: int) -> ClientWorldConnection:
        entrance = Entrance(
            Credentials(name, ACCOUNTS[name]), name.capitalize(), create=True, version=version
        )
        client = self.clients[name] = await enter_world(
            self.server.clock, HOST, self.server.login_port, entrance,
            on_event=self.events[name].append,
        )  # fmt: skip
        return client

    def heard(self, name: str) -> list[Heard]:
        return [event for event in self.events[name] if isinstance(event, Heard)]

    async def unharmed(self) -> None:
        """The honest see each other walk, and hear each other."""
        aldana, borvik = self.clients["aldana"], self.clients["borvik"]
        self.said += 1
        text = f"all is well {self.said}"
        await borvik.until(lambda: self.place_of("Aldana"), "Aldana in sight")
        at = aldana.core.place
        goal = at.x + (1.5 if self.said % 2 else -1.5)
        aldana.walk_to(goal, at.y, at.z)
        aldana.act(lambda core: core.command(f"say {text}"))
        await borvik.until(
            lambda: any(one.text == text for one in self.heard("borvik")), "what Aldana says"
        )
        await borvik.until(
            lambda: (seen := self.place_of("Aldana")) is not None and abs(seen[0] - goal) < 0.01,
            "Aldana walk",
        )

    def place_of(self, name: str) -> tuple[float, ...] | None:
        seen = self.clients["borvik"].core.surroundings
        index = seen.find(name) if seen is not None else None
        return tuple(seen.place(index)) if seen is not None and index is not None else None


@asynccontextmanager
async def company(
    folder: Path, settings: Mapping[str, object] | None = None
) -> AsyncIterator[Company]:
    async with harness(folder, settings, accounts=ACCOUNTS) as server:
        await server.world_registered()
        made = Company(server)
        try:
            for name, version in (("aldana", 546), ("borvik", 561), ("mallory", 546)):
                await made.come(name, version)
            await made.unharmed()
            yield made
        finally:
            for client in made.clients.values():
                await client.leave()


async def test_nonsense_is_counted_and_never_shown(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        mallory, borvik = made.clients["mallory"], made.clients["borvik"]
        await borvik.until(lambda: made.place_of("Mallory"), "Mallory in sight")
        before = made.place_of("Mallory")
        step = mallory.core.walker.step(mallory.now()).fields()
        writer = mallory.core._predictions
        assert writer is not None
        for x in (math.nan, math.inf, -1e30, step["x"] + 100_000.0, step["x"] + 9_000.0):
            payload = writer.write({**step, "x": x}, 1)
            mallory.act(lambda core, data=payload: core.send("OP_PredictionUpdateMsg", data))  # type: ignore[misc]
        say = mallory.core.commands["say"]
        body = struct.pack("<HH", say, 65_000) + b"x" * 65_000
        mallory.act(lambda core: core.send("OP_RemoteCmdMsg", body))
        for payload in (b"", b"\xff" * 3, struct.pack("<HH", 0xFFFF, 1) + b"x"):
            for name in ("OP_UpdateTargetMsg", "OP_EntityVerbsVerbMsg", "OP_QuickbarUpdateMsg"):
                mallory.act(lambda core, n=name, p=payload: core.send(n, p))  # type: ignore[misc]
        await borvik.until(lambda: any(one.speaker == "Mallory" for one in made.heard("borvik")),
                           "what Mallory says")  # fmt: skip
        longest = max(len(one.text) for one in made.heard("borvik"))
        assert longest == ChatRules().longest
        await made.unharmed()
        assert made.place_of("Mallory") == before
        world = made.server.service.server.world
        assert world is not None
        counted = world.parts.world.faults.drops
        assert counted["position is no number"] == 2
        assert counted["position outside the world"] == 2
        assert counted["moved too fast"] == 1
        assert mallory.core.phase is WorldPhase.STANDING


async def test_a_flood_of_messages_ends_its_session_and_no_other(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        mallory = made.clients["mallory"]
        sent = 0
        while mallory.core.phase is WorldPhase.STANDING and sent < FLOOD:
            mallory.act(lambda core: send_many(core, 100))
            sent += 100
            await sleep(0.001)
        await mallory.until(lambda: mallory.core.phase is WorldPhase.CLOSED, "the end of it")
        assert sent >= WorldRules("").message_burst
        await made.server.log.line(r"Mallory left .*: its client sends too many messages")
        await made.unharmed()
        assert made.place_of("Mallory") is None


async def test_ten_thousand_datagrams_of_a_player_harm_nobody(tmp_path: Path) -> None:
    """A session's own address sends what is no datagram of it, as fast as it can."""
    async with company(tmp_path) as made:
        mallory = made.clients["mallory"]
        for number in range(FLOOD):
            mallory._port.write(struct.pack(">HH", 9, number & 0xFFFF) + b"\xff" * 60)
            if number % 100 == 0:
                await sleep(0)
            if number % 2_500 == 0:
                await made.unharmed()
        await made.unharmed()
        assert "Traceback" not in made.server.log.text


def send_many(core: WorldClientCore, count: int) -> None:
    for _ in range(count):
        if core.phase is WorldPhase.STANDING:
            core.send("OP_UpdateTargetMsg", b"\xff\xff")


async def test_messages_out_of_order_and_unknown_ones_bring_nothing(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        mallory = made.clients["mallory"]
        listener = mallory.core.handoff
        for name in ("OP_DoneLoadingZoneResourcesMsg", "OP_DoneLoadingEntityResourcesMsg",
                     "OP_DoneLoadingUIResourcesMsg", "OP_CampAbortedMsg"):  # fmt: skip
            for _ in range(20):
                mallory.act(lambda core, n=name: core.send(n))  # type: ignore[misc]
        for opcode in (43, 67, 300, 9999, 60_000):
            mallory.act(lambda core, n=str(opcode): core.send(n, b"\xff" * 40))  # type: ignore[misc]
        await made.server.log.line(r"unknown message 9999 \(no name\) of Mallory from 127")
        await made.unharmed()
        assert mallory.core.phase is WorldPhase.STANDING
        mallory.act(lambda core: core.send("1", by_number(listener.account_id, listener.key)))
        await mallory.until(lambda: mallory.core.phase is WorldPhase.CLOSED, "the end of it")
        await made.server.log.line("was refused: a second login by number")
        await made.unharmed()


async def test_ready_to_zone_without_a_zone_ends_the_session(tmp_path: Path) -> None:
    async with company(tmp_path) as made:
        mallory = made.clients["mallory"]
        mallory.act(lambda core: core.send("OP_ReadyToZoneMsg"))
        await mallory.until(lambda: mallory.core.phase is WorldPhase.CLOSED, "the end of it")
        await made.server.log.line("Mallory left .*: ready to zone without reason")
        await made.unharmed()
        assert made.place_of("Mallory") is None


BEHAVIORS = """
import time


class Raiser:
    near = 500.0

    def __init__(self, me, options):
        self.me = me

    def on_enter(self, visitor):
        raise RuntimeError("a mistake")


class Looper:
    near = 500.0

    def __init__(self, me, options):
        self.me = me

    def on_enter(self, visitor):
        while True:
            try:
                self.me.name
            except Exception:
                pass


class Sleeper:
    near = 500.0

    def __init__(self, me, options):
        self.me = me

    def on_enter(self, visitor):
        time.sleep(3600)
"""
ZONE = """
[zone]
id = 325
name = "IsleRefuge1"
file = "tutorial_island02"
description = "Isle of Refuge"
safe = [1.56, -7.97, 243.45, 0.0]
"""


async def test_behaviors_that_raise_loop_or_sleep_are_switched_off(tmp_path: Path) -> None:
    zones, behaviors = tmp_path / "zones", tmp_path / "behaviors"
    for folder in (zones, behaviors):
        folder.mkdir()
    (behaviors / "bad.py").write_text(BEHAVIORS, encoding="utf-8")
    (behaviors / "worse.py").write_text("def this is no Python", encoding="utf-8")
    spawns = "".join(
        f'[[spawn]]\nkind = "npc"\nname = "{name}"\nplace = [1.0, -7.97, 240.0]\n'
        f'behavior = "{name}"\n'
        for name in ("raiser", "looper", "sleeper")
    )
    (zones / "isle.toml").write_text(ZONE + spawns, encoding="utf-8")
    settings = {"world.zones": zones, "world.behaviors": behaviors}
    async with company(tmp_path, settings) as made:
        log = made.server.log
        await log.line(r"worse\.py, line 1: expected")
        await log.line(r"raiser.* is switched off: .*bad\.py, line 12: RuntimeError: a mistake")
        await log.line(r"looper.* is switched off: .*bad\.py, line 2\d: took longer than")
        await log.line(r"sleeper.* is switched off: .*bad\.py, line \d+: took longer than")
        await made.unharmed()
        assert log.text.count("is switched off") == 3
