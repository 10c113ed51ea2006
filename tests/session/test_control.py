"""Packets outside the reliable channel; what they do is shown with whole sessions beside this."""

from __future__ import annotations

from emu.session import Role
from emu.session.control import HANDLERS
from emu.session.states import ALLOWED
from emu.wire import ProtocolOpcode, ServerKeyRequest, SessionStatResponse
from tests.support.sessions.link import drain, sealed

ON_THE_WAY_IN = {ProtocolOpcode.COMBINED, ProtocolOpcode.PACKET, ProtocolOpcode.FRAGMENT}


def test_whatever_a_state_allows_has_a_handler_and_nothing_else_has():
    assert set(HANDLERS) | ON_THE_WAY_IN == set().union(*ALLOWED.values())
    assert not set(HANDLERS) & ON_THE_WAY_IN


def test_a_question_is_told_and_answered_once(link):
    link.server.receive_datagram(sealed(ServerKeyRequest(9, average=80)), link.now)
    (event,) = drain(link.server)
    assert event.average == 0.08
    (answer,) = link.server.datagrams_to_send(link.now)
    assert answer[:4] == b"\x00\x08\x00\x09"
    assert link.server.datagrams_to_send(link.now) == []


def test_statistics_that_nobody_asked_for_are_dropped(link):
    link.client.receive_datagram(sealed(SessionStatResponse(9)), link.now)
    assert link.client.drops["unasked statistics"] == 1


def test_a_key_block_that_comes_again_is_one_more_message(link):
    key = link.server.key
    link.client.send(1, bytes(80))
    link.run(0.2)
    assert link.messages(Role.SERVER) == [(1, bytes(80))]
    assert link.server.key == key
