"""What a session does of its own accord."""

from __future__ import annotations

from emu.session.core import PendingControl
from emu.session.duties import DUTIES, take_owed
from emu.session.life import Due
from emu.wire import ServerKeyRequest
from tests.support.sessions.link import connected_link


def test_there_is_a_way_to_do_whatever_may_be_due():
    assert set(DUTIES) == set(Due)


def test_what_is_owed_leaves_in_order_and_once():
    core = connected_link().server._core
    core.stat_request = ServerKeyRequest(3)
    core.owed = PendingControl.KEEP_ALIVE | PendingControl.QUESTION | PendingControl.ANSWER
    assert [packet[1] for packet in take_owed(core, 5.0)] == [0x08, 0x07, 0x06]
    assert core.owed == 0
    assert take_owed(core, 5.0) == []


def test_a_goodbye_is_owed_until_everything_has_arrived():
    link = connected_link(loss=1.0)
    core = link.server._core
    link.server.send(1, b"last words")
    link.server.close()
    link.server.datagrams_to_send(link.now)
    assert core.owed == PendingControl.GOODBYE
    assert take_owed(core, link.now) == []
    core.channel.queue.acknowledge_all(link.now)
    assert [packet[1] for packet in take_owed(core, link.now)] == [0x05]
    assert core.owed == 0
