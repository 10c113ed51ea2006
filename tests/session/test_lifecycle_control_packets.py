"""Packets outside the reliable channel; their effects are shown with whole sessions beside this."""

from __future__ import annotations

import pytest

from emu.errors import PeerError
from emu.session import Role, SessionConfig
from emu.session.lifecycle import ALLOWED, ControlPackets
from emu.session.send_queue import RoundTrip
from emu.wire import ProtocolOpcode, ServerKeyRequest, SessionStatResponse
from tests.support.sessions.link import connected_link, drain, sealed

OF_THE_CHANNEL = {ProtocolOpcode.COMBINED, ProtocolOpcode.PACKET, ProtocolOpcode.FRAGMENT}


@pytest.mark.parametrize("opcode", sorted(set().union(*ALLOWED.values()) - OF_THE_CHANNEL), ids=str)
def test_a_session_handles_every_packet_that_a_phase_allows(link, opcode):
    with pytest.raises(PeerError):
        link.server.handle(bytes((0, opcode)) + bytes(3000), link.now)


def test_pending_packets_leave_in_order_and_once():
    control = ControlPackets()
    assert not control.pending
    control.keep_alive()
    control.request_statistics()
    control.respond(ServerKeyRequest(3))
    assert control.pending
    taken = control.take_pending(RoundTrip(SessionConfig()), sent=1, received=1, now=5.0)
    assert [packet[1] for packet in taken] == [0x08, 0x07, 0x06]
    assert not control.pending
    assert control.take_pending(RoundTrip(SessionConfig()), sent=1, received=1, now=5.0) == []


def test_a_disconnect_waits_until_everything_has_arrived():
    link = connected_link(loss=1.0)
    server = link.server
    server.send(1, b"last words")
    server.close()
    server.datagrams_to_send(link.now)
    assert server.datagrams_to_send(link.now) == []
    server._channel.queue.acknowledge_all(link.now)
    assert [datagram[1] for datagram in server.datagrams_to_send(link.now)] == [0x05]
    assert server.datagrams_to_send(link.now) == []


def test_a_statistics_request_is_reported_and_gets_one_response(link):
    link.server.receive_datagram(sealed(ServerKeyRequest(9, average=80)), link.now)
    (event,) = drain(link.server)
    assert event.average == 0.08
    (response,) = link.server.datagrams_to_send(link.now)
    assert response[:4] == b"\x00\x08\x00\x09"
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
