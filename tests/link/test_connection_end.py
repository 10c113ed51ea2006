from __future__ import annotations

import struct
import zlib

from hypothesis import given
from hypothesis import strategies as st

from emu.link.codec import KEEP_ALIVE, LinkOpcode, encode_frame
from emu.link.connection import LinkClosed, LoginLinkProtocol, WorldIntroduced, WorldLinkProtocol
from emu.link.messages import LSInfo, LSStatus, OpaqueMessage
from emu.link.settings import LinkLimits, LoginLinkConfig, WorldLinkTimes
from tests.support.examples import tries


def world_end(limits: LinkLimits | None = None, now: float = 0.0) -> WorldLinkProtocol:
    config = WorldLinkTimes(limits or LinkLimits(), status_interval=1e9)
    end = WorldLinkProtocol(config, LSInfo("Name", "host", "account", ""), LSStatus(1), now)
    end.data_to_send()
    return end


def closing(end: WorldLinkProtocol) -> object:
    event = end.next_event()
    assert end.next_event() is None
    return event


def test_a_keep_alive_goes_out_after_45_seconds_without_sending() -> None:
    end = world_end()
    end.receive_data(KEEP_ALIVE, 44.0)
    assert end.get_timer() == 45.0
    end.handle_timer(44.9)
    assert end.data_to_send() == []
    end.handle_timer(45.0)
    assert end.data_to_send() == [KEEP_ALIVE]
    end.send(OpaqueMessage(9), 60.0)
    end.receive_data(KEEP_ALIVE, 60.0)
    assert end.get_timer() == 105.0


def test_a_peer_that_is_silent_for_90_seconds_is_dropped() -> None:
    end = world_end()
    end.receive_data(KEEP_ALIVE, 10.0)
    end.handle_timer(99.9)
    assert not end.closed
    end.handle_timer(100.0)
    assert closing(end) == LinkClosed("silent")
    assert end.get_timer() is None


def test_a_frame_that_trickles_in_is_not_waited_for_forever() -> None:
    end = world_end()
    for second, byte in enumerate(encode_frame(9, bytes(100))):
        end.receive_data(bytes([byte]), second)
        end.handle_timer(second)
        if end.closed:
            break
    assert closing(end) == LinkClosed("frame not finished in time")
    assert second == 30


def test_whole_frames_one_after_another_never_run_out_of_time() -> None:
    end = world_end()
    frame = encode_frame(0x7777, bytes(20))
    stream = frame[:9] + (frame[9:] + frame[:9]) * 20
    pieces = [stream[i : i + len(frame)] for i in range(0, len(stream), len(frame))]
    for second, piece in enumerate(pieces):
        end.receive_data(piece, second * 20.0)
        end.handle_timer(second * 20.0)
    assert not end.closed
    assert end.drops == {"unknown message": 20}


def test_relay_control_drops_the_link_and_an_empty_one_does_not() -> None:
    end = world_end()
    end.receive_data(encode_frame(0, b"\0\5"), 1.0)
    assert not end.closed
    end.receive_data(encode_frame(0, b"\1"), 1.0)
    assert closing(end) == LinkClosed("relay control")


def test_a_flood_of_frames_or_bytes_is_ended() -> None:
    end = world_end(LinkLimits(frames_per_second=10, frame_burst=100))
    end.receive_data(KEEP_ALIVE * 100, 1.0)
    assert not end.closed
    end.receive_data(KEEP_ALIVE, 1.0)
    assert closing(end) == LinkClosed("too many frames")
    end = world_end(LinkLimits(bytes_per_second=10, byte_burst=70))
    end.receive_data(KEEP_ALIVE * 10, 1.0)
    end.receive_data(b"\7", 1.0)
    assert closing(end) == LinkClosed("too many bytes")


def test_a_fault_ends_the_link_once_and_nothing_is_read_after_it() -> None:
    end = world_end()
    end.receive_data(struct.pack("<I", 3), 1.0)
    end.receive_data(KEEP_ALIVE, 1.0)
    end.close("again", 1.0)
    assert closing(end) == LinkClosed("frame size below header size")
    end.send(OpaqueMessage(9), 2.0)
    assert end.data_to_send() == []


def test_a_frame_that_names_a_destination_is_for_us_all_the_same() -> None:
    end = world_end()
    end.receive_data(struct.pack("<IBHI", 11, 2, LinkOpcode.ZoneUpdates, 77)[:7], 1.0)
    end.receive_data(struct.pack("<I", 77), 1.0)
    assert closing(end) == LinkClosed("wrong size of ZoneUpdates")
    login = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    introduction = LSInfo("Name", "host", "account", "")
    head = struct.pack("<IBHI", 11 + 832, 2, LinkOpcode.LSInfo, 77)
    login.receive_data(head + introduction.encode(), 1.0)
    assert login.next_event() == WorldIntroduced(introduction)


def test_small_frames_that_inflate_to_much_are_a_flood_too() -> None:
    limits = LinkLimits(bytes_per_second=1000, byte_burst=300_000)
    end = LoginLinkProtocol(LoginLinkConfig(limits, first_frame_size=1 << 20), 0.0)
    for second in (0.0, 300.0, 600.0):
        end.receive_data(compressed(0, bytes(90_000)) * 3, second)
        assert not end.closed
    end.receive_data(compressed(0, bytes(90_000)) * 3, 601.0)
    assert end.close_reason == "too many bytes"


def compressed(opcode: int, payload: bytes) -> bytes:
    """Return a frame with its payload compressed."""
    data = zlib.compress(payload)
    return struct.pack("<IBHI", 11 + len(data), 1, opcode, len(payload)) + data


def test_a_lost_connection_leaves_nothing_to_send() -> None:
    end = world_end()
    end.send(OpaqueMessage(9), 1.0)
    end.connection_lost(1.0)
    assert end.data_to_send() == []
    assert closing(end) == LinkClosed("connection lost")


@given(st.lists(st.binary(max_size=80), max_size=10))
@tries(100)
def test_nothing_an_unauthenticated_peer_sends_raises(chunks: list[bytes]) -> None:
    for end in (world_end(), LoginLinkProtocol(LoginLinkConfig(), 0.0)):
        for number, chunk in enumerate(chunks):
            end.receive_data(chunk, float(number))
            end.handle_timer(float(number))
