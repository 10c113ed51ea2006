"""The reliable channel: payloads in, messages out, acks."""

from __future__ import annotations

import pytest

from emu.errors import LimitExceeded, MalformedDatagram
from emu.session import SessionConfig
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.wire import ProtocolOpcode

PACKET, FRAGMENT = ProtocolOpcode.PACKET, ProtocolOpcode.FRAGMENT


def make(**settings):
    return ReliableChannel(SessionConfig(**settings), 512, 2)


@pytest.fixture
def channel():
    return make()


def receive(channel, opcode, sequence, data):
    return list(channel.receive(opcode, sequence, data))


def test_packets_come_out_in_order_with_one_ack(channel):
    assert receive(channel, PACKET, 1, b"b") == []
    assert receive(channel, PACKET, 2, b"c") == []
    assert [ack.hex() for ack in channel.ack_packets()] == ["00110001", "00110002"]
    assert receive(channel, PACKET, 0, b"a") == [b"a", b"b", b"c"]
    assert [ack.hex() for ack in channel.ack_packets()] == ["00150002"]
    assert channel.ack_packets() == []


def test_early_acks_that_a_later_packet_made_needless_are_left_out(channel):
    receive(channel, PACKET, 1, b"b")
    receive(channel, PACKET, 5, b"f")
    receive(channel, PACKET, 0, b"a")
    assert [ack.hex() for ack in channel.ack_packets()] == ["00150001", "00110005"]


def test_an_ack_is_not_alone_while_early_packets_wait_for_theirs(channel):
    receive(channel, PACKET, 0, b"a")
    receive(channel, PACKET, 2, b"c")
    assert channel.take_only_ack() is None
    assert [ack.hex() for ack in channel.ack_packets()] == ["00150000", "00110002"]


@pytest.mark.parametrize("opcode", [PACKET, FRAGMENT])
def test_one_ack_is_not_all_that_there_is_while_something_is_held(channel, opcode):
    receive(channel, PACKET, 0, b"a")
    receive(channel, opcode, 1 if opcode == FRAGMENT else 2, b"\x00\x00\x00\x06abc")
    channel.ack_packets()
    with pytest.raises(MalformedDatagram, match="duplicate packet"):
        receive(channel, PACKET, 0, b"a")
    assert channel.take_only_ack() is None
    assert [ack.hex()[:4] for ack in channel.ack_packets()] == ["0015"]


def test_a_duplicate_is_counted_and_acknowledged_again(channel):
    receive(channel, PACKET, 0, b"a")
    channel.ack_packets()
    with pytest.raises(MalformedDatagram, match="duplicate packet"):
        receive(channel, PACKET, 0, b"a")
    assert [ack.hex() for ack in channel.ack_packets()] == ["00150000"]


def test_outside_the_window_nothing_is_acknowledged(channel):
    with pytest.raises(LimitExceeded, match="outside the window"):
        receive(channel, PACKET, 2048, b"x")
    assert channel.ack_packets() == []


def test_what_cannot_be_held_is_not_acknowledged():
    channel = make(held_packet_limit=1)
    receive(channel, PACKET, 1, b"x")
    channel.ack_packets()
    with pytest.raises(LimitExceeded, match="too much held out of order"):
        receive(channel, PACKET, 2, b"x")
    assert channel.ack_packets() == []


def test_fragments_out_of_order_make_one_payload(channel):
    assert receive(channel, FRAGMENT, 1, b"def") == []
    assert channel.partial_bytes == 0
    assert receive(channel, FRAGMENT, 0, b"\x00\x00\x00\x06abc") == [b"abcdef"]
    assert receive(channel, PACKET, 2, b"next") == [b"next"]


@pytest.mark.parametrize(
    ("opcode", "data", "reason"),
    [
        (PACKET, b"x", "packet inside a run of fragments"),
        (FRAGMENT, b"more than the six announced", "fragments longer than announced"),
    ],
)
def test_a_broken_run_of_fragments_breaks_the_channel(channel, opcode, data, reason):
    receive(channel, FRAGMENT, 0, b"\x00\x00\x00\x06abc")
    with pytest.raises(BrokenChannel) as caught:
        receive(channel, opcode, 1, data)
    assert caught.value.reason == reason


def test_the_short_way_takes_only_the_awaited_packet_and_only_alone(channel):
    assert channel.takes_next(0)
    ack = channel.take_only_ack()
    assert ack is not None
    assert ack.hex() == "00150000"
    assert not channel.takes_next(2)
    receive(channel, PACKET, 2, b"c")
    assert not channel.takes_next(1)
    assert receive(channel, PACKET, 1, b"b") == [b"b", b"c"]
    receive(channel, FRAGMENT, 3, b"\x00\x00\x00\x06abc")
    assert not channel.takes_next(4)


def test_messages_of_one_turn_share_a_packet(channel):
    channel.queue_message(b"\x01one")
    channel.queue_message(b"\x02two")
    assert not channel.is_idle
    assert channel.packets_to_send(0.0) == [b"\x00\x09\x00\x00\x00\x19\x04\x01one\x04\x02two"]
    assert channel.queued_bytes == 12


def test_the_lead_shares_its_packet_with_the_first_message_however_long(channel):
    channel.lead = b"\xff" * 68
    channel.queue_message(b"\x01" * 600)
    packets = channel.packets_to_send(0.0)
    assert [packet[1] for packet in packets] == [FRAGMENT, FRAGMENT]
    whole = packets[0][8:] + packets[1][4:]
    assert whole == b"\x00\x19\x44" + b"\xff" * 68 + b"\xff\x02\x58" + b"\x01" * 600


def test_the_lead_leaves_alone_when_nothing_waits(channel):
    channel.lead = b"\xff" * 68
    assert not channel.is_idle
    assert channel.packets_to_send(0.0) == [b"\x00\x09\x00\x00" + b"\xff" * 68]


@pytest.mark.parametrize(("size", "kinds"), [(506, [PACKET]), (507, [FRAGMENT, FRAGMENT])])
def test_a_payload_is_cut_when_it_does_not_fit_max_length(channel, size, kinds):
    channel.queue_message(b"\x01" * size)
    packets = channel.packets_to_send(0.0)
    assert [packet[1] for packet in packets] == kinds
    assert max(map(len, packets)) == 510


def test_clearing_lets_go_of_everything(channel):
    receive(channel, FRAGMENT, 0, b"\x00\x00\x00\x06abc")
    receive(channel, PACKET, 2, b"c")
    channel.queue_message(b"x")
    channel.lead = b"y"
    channel.clear()
    assert channel.is_idle
    assert channel.partial_bytes == 0
    assert channel.queued_bytes == 0
