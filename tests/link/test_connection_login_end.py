from __future__ import annotations

import pytest

from emu.link.batches import (
    EquipmentItem,
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneItem,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.codec import LinkFrameReader, encode_frame
from emu.link.connection import LinkClosed, LoginLinkProtocol, MessageReceived, WorldIntroduced
from emu.link.messages import (
    EmoteMessage,
    LSFatalError,
    LSInfo,
    LSStatus,
    OpaqueMessage,
    from_login,
    to_frame,
)
from emu.link.settings import LoginLinkConfig

INFO = LSInfo("Name", "host", "account", "")


def events(end: LoginLinkProtocol) -> list[object]:
    found = []
    while (event := end.next_event()) is not None:
        found.append(event)
    return found


def sent(end: LoginLinkProtocol) -> list[object]:
    return [from_login(frame) for frame in LinkFrameReader().receive(b"".join(end.data_to_send()))]


def accepted(config: LoginLinkConfig | None = None) -> LoginLinkProtocol:
    end = LoginLinkProtocol(config or LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO), 0.0)
    end.accept(0.0)
    assert events(end) == [WorldIntroduced(INFO)]
    return end


def test_a_world_introduces_itself_and_what_follows_waits_for_the_decision() -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO) + to_frame(LSStatus(1)), 1.0)
    assert events(end) == [WorldIntroduced(INFO)]
    end.accept(2.0)
    assert events(end) == [MessageReceived(LSStatus(1))]
    assert sent(end) == []


@pytest.mark.parametrize("opcode", [0x0001, 0x1001, 0xAB01, 0x7777])
def test_anything_before_the_introduction_is_fatal(opcode: int) -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(encode_frame(opcode, bytes(13)), 1.0)
    assert sent(end) == [LSFatalError("This connection has not authenticated.")]
    assert events(end) == [LinkClosed("message before LSInfo")]


@pytest.mark.parametrize("size", [0, 831, 833])
def test_an_introduction_of_another_size_is_an_incorrect_version(size: int) -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(encode_frame(0x1000, bytes(size)), 1.0)
    assert sent(end) == [LSFatalError("Incorrect version")]
    assert events(end) == [LinkClosed("wrong size of LSInfo")]


def test_a_world_that_says_nothing_is_dropped_after_five_seconds() -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    assert end.get_timer() == 5.0
    end.receive_data(encode_frame(0), 4.0)
    end.handle_timer(5.0)
    assert events(end) == [LinkClosed("not registered in time")]


def test_a_decision_that_never_comes_ends_the_link() -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO), 9.0)
    end.handle_timer(38.9)
    assert not end.closed
    end.handle_timer(39.0)
    assert events(end)[-1] == LinkClosed("no decision in time")


def test_little_may_wait_for_the_decision() -> None:
    for frame, number in ((to_frame(LSStatus(1)), 65), (encode_frame(0x201E, bytes(4000)), 33)):
        end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
        end.receive_data(to_frame(INFO) + frame * (number - 1), 1.0)
        assert not end.closed
        end.receive_data(frame, 1.0)
        assert events(end)[-1] == LinkClosed("too much before the decision")
        assert end._held == []


def test_large_frames_are_for_worlds_that_were_accepted() -> None:
    most, large = encode_frame(0x201E, bytes(4088)), encode_frame(0x201E, bytes(4089))
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO) + most, 1.0)
    assert not end.closed
    end.receive_data(large, 1.0)
    assert end.close_reason == "frame too large"
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO), 1.0)
    end.accept(1.0)
    end.receive_data(large + encode_frame(0x201E, bytes(500_000)), 1.0)
    assert end.close_reason != "frame too large"


def test_a_refusal_carries_its_text() -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO), 1.0)
    end.refuse("Bad password", "bad password", 1.0)
    end.accept(1.0)
    assert sent(end) == [LSFatalError("Bad password")]
    assert events(end)[-1] == LinkClosed("bad password")


@pytest.mark.parametrize(
    ("opcode", "payload", "text", "reason"),
    [
        (0x2015, b"", "This is not an update server.", "table update"),
        (0x2007, b"", "Possible Hacking Attempt", "mesh message from a world"),
        (0x1000, INFO.encode(), "Possible Hacking Attempt", "second LSInfo"),
        (0x1001, bytes(12), "Hacking attempt.", "wrong size of LSStatus"),
        (0x201C, b"\x15\0", "Hacking attempt.", "too many items in ZoneUpdates"),
        (0x201D, b"\x65\0", "Hacking attempt.", "too many items in LoginEquipment"),
    ],
)
def test_what_an_accepted_world_must_not_send(
    opcode: int, payload: bytes, text: str, reason: str
) -> None:
    end = accepted()
    end.receive_data(encode_frame(opcode, payload), 1.0)
    assert sent(end) == [LSFatalError(text)]
    assert events(end) == [LinkClosed(reason)]


@pytest.mark.parametrize("size", [0, 108, 110])
def test_an_answer_to_a_play_request_of_another_size_is_ignored(size: int) -> None:
    """EQ2Emulator ignores it (docs/protocol/link.md#play); only one client waits for it."""
    end = accepted()
    end.receive_data(encode_frame(0xAB01, bytes(size)), 1.0)
    assert sent(end) == []
    assert events(end) == [MessageReceived(OpaqueMessage(0xAB01, bytes(size)))]
    assert not end.closed


def test_a_wrong_size_among_held_messages_is_noticed_at_acceptance() -> None:
    end = LoginLinkProtocol(LoginLinkConfig(), 0.0)
    end.receive_data(to_frame(INFO) + encode_frame(0x1001, b"") + to_frame(LSStatus(1)), 0.0)
    end.accept(0.0)
    assert events(end) == [WorldIntroduced(INFO), LinkClosed("wrong size of LSStatus")]


def test_an_application_keep_alive_is_taken_silently() -> None:
    end = accepted()
    end.receive_data(encode_frame(0x0001, b"abc"), 1.0)
    assert events(end) == []
    assert not end.closed


def run(end: LoginLinkProtocol, until: float) -> list[tuple[float, object]]:
    """Run the timers as a reactor would, with a world that is alive; return what was asked."""
    asked: list[tuple[float, object]] = []
    now = 0.0
    while (timer := end.get_timer()) is not None and timer <= until:
        now = max(now, timer)
        end.receive_data(encode_frame(0), now)
        end.handle_timer(now)
        asked += [(now, message) for message in sent(end) if message.OPCODE]  # type: ignore[attr-defined]
    return asked


def test_batches_are_asked_for_at_their_intervals() -> None:
    asked = run(accepted(), 6 * 3600 + 5)
    zones = [when for when, message in asked if message == ZoneUpdatesRequest()]
    equipment = [when for when, message in asked if message == LoginEquipmentRequest()]
    assert zones == [5.0, 6 * 3600 + 5.0]
    assert equipment[:3] == [5.0, 905.0, 1805.0]
    assert len(equipment) == 25


def test_a_full_batch_is_followed_by_the_next_request_ten_seconds_later() -> None:
    end = accepted()
    end.handle_timer(5.0)
    assert sent(end) == [ZoneUpdatesRequest(), LoginEquipmentRequest()]
    zones = ZoneUpdates(tuple(ZoneItem(number, "z", "d") for number in range(20)))
    items = LoginEquipment((EquipmentItem(1, 1, 1, (0, 0, 0), (0, 0, 0), 1),) * 100)
    end.receive_data(to_frame(zones) + to_frame(items), 6.0)
    assert events(end) == [MessageReceived(zones), MessageReceived(items)]
    end.handle_timer(15.9)
    assert sent(end) == []
    end.handle_timer(16.0)
    assert sent(end) == [ZoneUpdatesRequest(), LoginEquipmentRequest()]
    end.receive_data(to_frame(ZoneUpdates((ZoneItem(30, "z", "d"),))), 17.0)
    assert not end.closed
    assert end.get_timer() == 16.0 + 45.0


def test_a_zone_twice_in_one_cycle_is_fatal_and_again_in_the_next_is_not() -> None:
    zone = to_frame(ZoneUpdates((ZoneItem(1, "z", "d"),)))
    end = accepted()
    run(end, 5.0)
    end.receive_data(zone, 6.0)
    run(end, 6 * 3600 + 5)
    end.receive_data(zone, 6 * 3600 + 6.0)
    assert not end.closed
    end.receive_data(zone, 6 * 3600 + 7.0)
    assert end.close_reason == "zone repeated in one cycle"
    assert sent(end) == [LSFatalError("Hacking attempt.")]


def test_a_world_cannot_describe_zones_without_end() -> None:
    end = accepted(LoginLinkConfig(zones_per_cycle=30))
    for first in (0, 20):
        batch = tuple(ZoneItem(number, "z", "d") for number in range(first, first + 20))
        end.receive_data(to_frame(ZoneUpdates(batch)), 6.0)
    assert end.close_reason == "too many zones in one cycle"


def test_messages_to_the_world_are_one_frame_each() -> None:
    end = accepted()
    end.send(EmoteMessage("a", 0, 0, 0, "b"), 1.0)
    end.send(EmoteMessage("c", 0, 0, 0, "d"), 1.0)
    assert [len(frame) for frame in end.data_to_send()] == [83, 83]
