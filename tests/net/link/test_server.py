from __future__ import annotations

import re
import struct
import zlib
from dataclasses import replace
from typing import Any

import pytest
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from emu.limits.connections import StreamLimits
from emu.link.settings import LinkLimits, LinkServerConfig, LoginLinkConfig, hash_link_password
from emu.model import CreateResponse, PlayResponse
from emu.worlds import RegisteredWorld, WorldEntry
from tests.support.login.directory_fakes import Stores
from tests.support.login.link_bench import Bench
from tests.support.login.scripted_world import frame, ls_info
from tests.support.running.whole_server import captured_log, until

reactor: Any = _reactor
pytestmark = pytest.mark.usefixtures("collect_garbage")


async def test_a_world_registers_goes_down_and_up_and_away(bench: Bench) -> None:
    bench.start()
    world = await bench.registered()
    up = bench.directory.connected(7)
    assert up is not None
    world.status(-2, players=3, zones=1)
    await bench.observer.hears(replace(up, locked=True, players=3))
    world.status(-3, players=5)
    await bench.observer.hears(replace(up, players=5))
    await world.hang_up()
    await bench.observer.hears(("gone", 7))
    assert bench.directory.listed() == []
    assert bench.server.counters == {"connection lost": 1}


async def test_play_create_delete_and_updates_cross_the_link(bench: Bench) -> None:
    bench.start()
    world = await bench.registered()
    now = reactor.seconds()
    assert bench.directory.request_play(7, 101, 5, "203.0.113.9", now)
    request = await world.received(0xAB00)
    assert request == struct.pack("<IIIII21s", 101, 5, 7, 0, 0, b"203.0.113.9")
    world.answer_play(request)
    await bench.observer.hears(PlayResponse(7, 101, 5, 0x1234, 1, "127.0.0.1", 9312))
    assert bench.directory.request_create(7, 101, 561, bytes(318), now)
    create = await world.received(0x2013)
    assert create == struct.pack("<H5xI", 561, 101) + bytes(309)
    world.send(0x2013, struct.pack("<IIB", 101, 33, 1))
    await bench.observer.hears(CreateResponse(7, 101, 33, 1))
    bench.directory.notify_delete(7, 101, 33, now)
    assert await world.received(0x2012) == struct.pack("<IIBI", 101, 33, 128, 1)
    world.send(0x2012, struct.pack("<IIBI", 101, 5, 1, 60))
    update = ("character", 101, 7, 5, {"level": 60})
    await until(lambda: update in bench.stores.calls, "the update to be stored")


async def test_a_world_is_asked_for_batches_and_its_answers_are_stored(bench: Bench) -> None:
    bench.start(LinkServerConfig(end=LoginLinkConfig(batch_delay=0.05)))
    world = await bench.registered()
    assert await world.received(0x201C) == b"\x14\0"
    assert await world.received(0x201D) == b"\x64\0"
    world.send(0x201C, b"\1\0" + struct.pack("<IBB", 12, 2, 1) + b"anA" + bytes(5))
    world.send(0x201D, b"\1\0" + struct.pack("<IIH6BI", 1, 5, 3, 1, 2, 3, 1, 2, 3, 0) + bytes(5))
    world.send(0x2012, struct.pack("<IIBI", 101, 5, 1, 60))
    stored = {"zones", "equipment", "character"}
    await until(lambda: {call[0] for call in bench.stores.calls} >= stored, "all to be stored")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (frame(0x1000, ls_info(password=b"wrong")), b"Bad password"),
        (frame(0x1000, ls_info(account=b"nobody")), b"Bad password"),
        (frame(0x1000, ls_info(protocol=b"0.4.0")), b"Incorrect version"),
        (frame(0x1000, ls_info()[:-1]), b"Incorrect version"),
        (frame(0x1000, ls_info(kind=3)), b"Possible Hacking Attempt"),
        (frame(0x1001, bytes(13)), b"This connection has not authenticated."),
        (frame(0x0001), b"This connection has not authenticated."),
        (frame(0x1000, ls_info()) + frame(0x2015), b"This is not an update server."),
        (frame(0x1000, ls_info()) + frame(0x1001, bytes(3)), b"Hacking attempt."),
        (frame(0x1000, ls_info()) + frame(0x201C, b"\x15\0" + bytes(900)), b"Hacking attempt."),
    ],
)
async def test_fatal_errors_carry_the_texts_that_worlds_know(
    bench: Bench, data: bytes, text: bytes
) -> None:
    bench.start()
    world = await bench.connect()
    world.write(data)
    assert await world.refusal() == text
    assert bench.directory.listed() == []


async def test_a_ghost_is_kicked(bench: Bench) -> None:
    bench.start()
    ghost = await bench.registered()
    world = await bench.connect()
    world.register()
    assert await ghost.refusal() == b"Ghost Kick!"
    assert bench.directory.request_play(7, 1, 1, "", reactor.seconds())
    assert await world.received(0xAB00)
    heard = bench.observer.heard
    assert heard.count(("gone", 7)) == 1  # what the ghost was asked is answered for
    assert heard.index(("gone", 7)) < max(n for n, it in enumerate(heard) if it != ("gone", 7))
    assert bench.directory.connected(7) is not None


async def test_frames_in_single_bytes_and_compressed_ones_are_understood(bench: Bench) -> None:
    bench.start()
    world = await bench.connect()
    info = zlib.compress(ls_info())
    data = struct.pack("<IBHI", 11 + len(info), 1, 0x1000, 832) + info
    data += struct.pack("<IBHI", 24, 2, 0x1001, 0) + struct.pack("<iiiB", 1, 9, 1, 50)
    for byte in data:
        world.write(bytes([byte]))
        await deferLater(reactor, 0)
    await bench.observer.hears(WorldEntry(7, "Norrath", True, False, 9, max_level=50))


def bomb(announced: int) -> bytes:
    body = struct.pack("<I", announced) + zlib.compress(bytes(5_000_000))
    return struct.pack("<IBH", 7 + len(body), 1, 0x1000) + body


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (struct.pack("<I", 6), "frame size below header size"),
        (struct.pack("<I", 512 * 1024), "frame too large"),
        (b"\xff" * 4000, "frame too large"),
        (struct.pack("<IBH", 7, 9, 0), "unknown frame flags"),
        (frame(0, b"\1"), "relay control"),
        (bomb(832), "inflated size is not the announced one"),
        (bomb(1 << 30), "inflated frame too large"),
    ],
)  # fmt: skip
async def test_hostile_bytes_close_that_link_only_and_are_counted(
    bench: Bench, data: bytes, reason: str
) -> None:
    bench.start(LinkServerConfig(end=LoginLinkConfig(first_frame_size=1 << 16)))
    other = await bench.registered(b"other", 8)
    world = await bench.connect()
    world.write(data)
    await world.ended()
    assert bench.server.counters == {reason: 1}
    assert bench.directory.request_play(8, 1, 1, "", reactor.seconds())
    assert await other.received(0xAB00)


async def test_a_flood_is_ended_while_another_world_goes_on(bench: Bench) -> None:
    limits = LinkLimits(frames_per_second=50, frame_burst=500)
    bench.start(LinkServerConfig(end=LoginLinkConfig(limits)))
    other = await bench.registered(b"other", 8)
    world = await bench.registered()
    world.write(frame(0) * 2000)
    await world.ended()
    await bench.observer.hears(("gone", 7))
    assert bench.server.counters == {"too many frames": 1}
    other.status(1, players=2)
    await bench.observer.hears(WorldEntry(8, "Other", True, False, 2, max_level=50))


async def test_who_says_nothing_or_half_a_frame_is_dropped(bench: Bench) -> None:
    bench.start(LinkServerConfig(end=LoginLinkConfig(register_timeout=0.1)))
    silent, half = await bench.connect(), await bench.connect()
    half.write(frame(0x1000, ls_info())[:500])
    await silent.ended()
    await half.ended()
    assert bench.server.counters == {"not registered in time": 2}


async def test_a_registered_world_that_falls_silent_is_dropped(bench: Bench) -> None:
    bench.start(LinkServerConfig(end=LoginLinkConfig(LinkLimits(silence=0.2, keep_alive=0.05))))
    world = await bench.registered()
    assert await world.received(0) == b""
    await world.ended()
    assert bench.server.counters == {"silent": 1}


async def test_a_world_that_does_not_read_is_cut_off(bench: Bench) -> None:
    limits = StreamLimits(write_buffer=200_000, stall_timeout=60)
    bench.start(LinkServerConfig(connection=limits))
    world = await bench.registered()
    transport: Any = world.transport
    transport.pauseProducing()
    for number in range(3000):
        if not bench.directory.request_create(7, number, 546, bytes(8000), reactor.seconds()):
            break
        if not number % 20:
            await deferLater(reactor, 0)
    assert bench.server.counters == {"peer does not read": 1}
    assert bench.directory.connected(7) is None
    transport.resumeProducing()


async def test_a_world_that_leaves_bytes_waiting_too_long_is_cut_off(bench: Bench) -> None:
    limits = StreamLimits(write_buffer=100_000_000, stall_timeout=0.1)
    bench.start(LinkServerConfig(connection=limits))
    world = await bench.registered()
    transport: Any = world.transport
    transport.pauseProducing()
    for number in range(1500):
        bench.directory.request_create(7, number, 546, bytes(8000), reactor.seconds())
    await bench.counted("peer does not read")
    transport.resumeProducing()


@pytest.mark.slow
async def test_what_was_refused_is_summed_up_in_one_line_now_and_then(bench: Bench) -> None:
    with captured_log("text") as log:
        bench.start(LinkServerConfig(max_connections=1, revalidate_interval=0.1))
        await bench.registered()
        for _ in range(3):
            await (await bench.connect()).ended()
        line = "connections refused or ended lately: "
        for _ in range(100):
            if line in log.text:
                break
            await deferLater(reactor, 0.01)
        await deferLater(reactor, 0.25)
    counts = [int(part) for part in re.findall(line + r"too many connections \((\d)\)", log.text)]
    assert sum(counts) == 3  # in one line or two, and none when nothing has happened since
    assert log.text.count(line) == len(counts)


async def test_a_world_disabled_while_connected_is_dropped(bench: Bench) -> None:
    bench.start(LinkServerConfig(revalidate_interval=0.1))
    world = await bench.registered()
    bench.stores.worlds["testlabs"] = replace(bench.stores.worlds["testlabs"], enabled=False)
    assert await world.refusal() == b"Bad password"
    assert bench.server.counters == {"world disabled": 1}


@pytest.mark.slow
async def test_two_hundred_worlds_connect_and_are_listed(bench: Bench) -> None:
    password = hash_link_password("secret")
    for number in range(200):
        account = f"account{number}"
        bench.stores.worlds[account] = RegisteredWorld(
            1000 + number, f"World {number}", account, password
        )
    bench.start(LinkServerConfig(connections_per_address=300))
    for number in range(200):
        world = await bench.connect()
        world.register(b"account%d" % number)
    last = WorldEntry(1199, "World 199", True, False, 0, max_level=50)
    await bench.observer.hears(last)
    assert len(bench.directory.listed()) == 200


class SlowStores(Stores):
    """Stores an update only when the test says so."""

    def __init__(self, *worlds: RegisteredWorld) -> None:
        super().__init__(*worlds)
        self.gate: Deferred[None] = Deferred()

    async def update_character(self, account_id, world_id, char_id, changes) -> bool:
        await self.gate
        return await super().update_character(account_id, world_id, char_id, changes)


async def test_stopping_waits_until_what_was_reported_is_stored() -> None:
    bench = Bench(SlowStores)
    bench.start()
    world = await bench.registered()
    world.send(0x2012, struct.pack("<IIBI", 101, 5, 1, 60))
    world.status(1, players=1)
    await bench.observer.hears(WorldEntry(7, "Norrath", True, False, 1, max_level=50))
    stopping = Deferred.fromCoroutine(bench.server.stop())
    await world.ended()
    await deferLater(reactor, 0.02)
    assert not stopping.called
    bench.stores.gate.callback(None)  # type: ignore[attr-defined]
    await stopping
    assert [call[:3] for call in bench.stores.calls[-2:]] == [
        ("character", 101, 7),
        ("status", 7, -4),
    ]
