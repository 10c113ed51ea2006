from __future__ import annotations

import pytest

from emu.stream_end import StreamProtocol
from emu.times import Monotonic

NOW = Monotonic(0.0)


class End(StreamProtocol):
    """Sends whatever a test asks for."""

    def say(self, data: bytes) -> None:
        self._output.append(data)

    def _ended(self, reason: str) -> object:
        return ("ended", reason)


def test_what_is_to_be_sent_is_given_once_and_in_order() -> None:
    end = End()
    end.say(b"one")
    end.say(b"two")
    assert end.data_to_send() == [b"one", b"two"]
    assert end.data_to_send() == []


def test_it_ends_once_and_what_is_left_is_still_sent() -> None:
    end = End()
    end.say(b"farewell")
    assert not end.closed
    end.close("enough", NOW)
    end.close("again", NOW)
    assert end.closed
    assert end.close_reason == "enough"
    assert end.next_event() == ("ended", "enough")
    assert end.next_event() is None
    assert end.data_to_send() == [b"farewell"]


@pytest.mark.parametrize("reason", ["connection lost", "enough"])
def test_nothing_is_sent_once_the_connection_is_gone(reason: str) -> None:
    end = End()
    end.say(b"too late")
    if reason != "connection lost":
        end.close(reason, NOW)
    end.connection_lost(NOW)
    assert end.data_to_send() == []
    assert end.next_event() == ("ended", reason)
    assert end.next_event() is None
