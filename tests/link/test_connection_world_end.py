from __future__ import annotations

from emu.link.codec import LinkFrameReader, encode_frame
from emu.link.connection import LinkClosed, LinkRefused, MessageReceived, WorldLinkProtocol
from emu.link.messages import (
    DELETE,
    BasicCharUpdate,
    LSFatalError,
    LSInfo,
    LSStatus,
    from_world,
    to_frame,
)
from emu.link.settings import WorldLinkTimes

INFO = LSInfo("Name", "host", "account", "")


def sent(end: WorldLinkProtocol) -> list[object]:
    return [from_world(frame) for frame in LinkFrameReader().receive(b"".join(end.data_to_send()))]


def test_a_world_introduces_itself_and_reports_at_once() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1, 0, 0, 50), 100.0)
    frames = end.data_to_send()
    assert [len(frame) for frame in frames] == [839, 20]
    assert frames[1] == bytes.fromhex("1400000000011001000000000000000000000032")  # as recorded


def test_the_status_goes_out_every_fifteen_seconds() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.data_to_send()
    assert end.get_timer() == 15.0
    end.handle_timer(14.9)
    assert sent(end) == []
    end.handle_timer(15.0)
    assert sent(end) == [LSStatus(1)]
    assert end.get_timer() == 30.0


def test_how_many_are_here_goes_out_soon_but_not_with_everybody_who_comes() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.data_to_send()
    for number in range(1, 8):
        end.set_status(LSStatus(1, number), number / 10)
    assert sent(end) == []
    assert end.get_timer() == 2.0
    end.handle_timer(2.0)
    assert sent(end) == [LSStatus(1, 7)]
    assert end.get_timer() == 17.0
    end.set_status(LSStatus(1, 6), 10.0)
    assert end.get_timer() <= 10.0
    end.handle_timer(10.0)
    assert sent(end) == [LSStatus(1, 6)]


def test_a_locked_world_is_reported_at_once() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.data_to_send()
    end.set_status(LSStatus(-2), 5.0)
    assert sent(end) == [LSStatus(-2)]
    assert end.get_timer() == 20.0


def test_what_the_login_server_asks_is_handed_on() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    delete = BasicCharUpdate(101, 7, DELETE, 1)
    end.receive_data(encode_frame(1) + to_frame(delete) + encode_frame(0x7777), 1.0)
    assert end.next_event() == MessageReceived(delete)
    assert end.next_event() is None
    assert end.drops == {"unknown message": 1}


def test_a_reset_of_the_database_is_never_honored() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.receive_data(encode_frame(0x201B), 1.0)
    assert end.next_event() is None
    assert end.drops == {"ResetDatabase is never honored": 1}
    assert not end.closed


def test_a_fatal_error_ends_the_link_and_reports_its_text() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.receive_data(to_frame(LSFatalError("Bad password")) + encode_frame(0x7777), 1.0)
    assert end.next_event() == LinkRefused("Bad password")
    assert end.next_event() == LinkClosed("refused by the login server")
    assert end.next_event() is None


def test_a_wrong_size_ends_the_link() -> None:
    end = WorldLinkProtocol(WorldLinkTimes(), INFO, LSStatus(1), 0.0)
    end.receive_data(encode_frame(0xAB00, bytes(40)), 1.0)
    assert end.close_reason == "wrong size of UsertoWorldReq"
