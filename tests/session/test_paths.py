"""The way in, with a receiver that only takes notes."""

from __future__ import annotations

import random
import weakref

import pytest

from emu.errors import MalformedDatagram, PeerError
from emu.session import Message, Role, SessionConfig
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.session.codec import CipherPair, MessageCodec
from emu.session.events import SessionJournal
from emu.session.lifecycle import Lifecycle, SessionStep
from emu.session.paths import ReceivePath, UnauthenticatedLimits
from emu.wire import (
    Ack,
    AppCombined,
    Combined,
    Fragment,
    KeepAlive,
    ReliablePacket,
    Seal,
    push_packet,
)
from emu.wire.packets import push_sequenced

CONFIG = SessionConfig()
KEY = b"12345678"
SEAL = Seal(5)


class Notes:
    """A receiver that writes down what it is given."""

    def __init__(self, path):
        self.path = path
        self.packets = []
        self.clear = []
        self.proofs = 0

    def validate_address(self):
        self.proofs += 1
        self.path._lifecycle.advance(SessionStep.VALIDATE)

    def acknowledge(self, opcode, sequence, now):
        self.handle(push_sequenced(opcode, sequence), now)

    def handle(self, packet, now):
        self.packets.append((packet, now))

    def receive_clear(self, message):
        self.clear.append(message)


def make_path(*, keyed=True, short=False):
    """Return a server's way in after its SessionResponse, and the receiver."""
    lifecycle = Lifecycle(Role.SERVER)
    path = ReceivePath(CONFIG, lifecycle, SessionJournal())
    path.trust()
    path.open(SEAL, ReliableChannel(CONFIG, 512, SEAL.overhead))
    lifecycle.advance(SessionStep.RESPOND)
    if keyed:
        lifecycle.advance(SessionStep.VALIDATE)
        lifecycle.advance(SessionStep.KEY)
        path.start_cipher(MessageCodec(CONFIG, Role.SERVER, KEY))
    if short:
        path.use_short_path()
    return path, Notes(path)


def sealed(packet):
    return SEAL.seal(push_packet(packet))


def datagrams(seed):
    """Return what a client sends: messages in Packets and Fragments, some twice, some early."""
    encrypt = CipherPair(KEY, Role.CLIENT).encrypt
    source = random.Random(seed)
    out, sequence = [], 0
    for number in range(60):
        cipher_text = encrypt(bytes((number + 1,)) + source.randbytes(source.randrange(1, 30)))
        payload = cipher_text if cipher_text[0] else b"\0" + cipher_text
        if number % 9 == 0:
            out.append(Fragment(sequence, len(payload).to_bytes(4, "big") + payload[:1]))
            out.append(Fragment(sequence + 1, payload[1:]))
            sequence += 2
        else:
            out.append(ReliablePacket(sequence, payload))
            sequence += 1
    whole = [sealed(packet) for packet in out]
    for index in range(0, len(whole) - 2, 7):
        whole[index], whole[index + 1] = whole[index + 1], whole[index]
    whole[20:20] = [whole[10], whole[10][:-1] + b"?", sealed(KeepAlive()), sealed(Ack(3))]
    return whole


def walk(path, notes, data):
    for number, datagram in enumerate(data):
        try:
            path.receive(datagram, float(number), notes)
        except PeerError as error:
            path._journal.drop(error.reason)
    return list(path._journal.events), dict(path._journal.drops), notes.packets


@pytest.mark.parametrize("seed", range(5))
def test_the_short_way_leads_where_the_long_one_does(seed):
    data = datagrams(seed)
    long, short = walk(*make_path(), data), walk(*make_path(short=True), data)  # type: ignore[call-arg]
    assert short == long
    messages = [event for event in short[0] if isinstance(event, Message)]
    assert [message.opcode for message in messages] == list(range(1, 61))
    assert short[1] == {"bad check": 1, "duplicate packet": 1}
    assert [packet for packet, _ in short[2]] == [b"\x00\x06", b"\x00\x15\x00\x03"]


def test_the_first_sealed_datagram_proves_and_no_other():
    path, notes = make_path(keyed=False)
    for number in range(3):
        path.receive(sealed(KeepAlive()), float(number), notes)
    assert notes.proofs == 1
    assert path._lifecycle.last_received == 2.0


def test_messages_before_the_key_go_to_the_receiver():
    path, notes = make_path(keyed=False)
    path.receive(sealed(ReliablePacket(0, push_packet(AppCombined((b"one", b"two"))))), 1.0, notes)
    path.receive(sealed(ReliablePacket(1, b"\0\0escaped")), 1.0, notes)
    assert notes.clear == [b"one", b"two", b"\0escaped"]
    # Each message is escaped by itself (docs/protocol/transport.md#payloads).
    combined = push_packet(AppCombined((b"\0\0", b"\0\0x", b"three")))
    path.receive(sealed(ReliablePacket(2, combined)), 1.0, notes)
    assert notes.clear[3:] == [b"\0", b"\0x", b"three"]
    assert path.messages == 0


def test_a_part_that_is_not_allowed_spoils_itself_only():
    path, notes = make_path()
    parts = (b"\x00\x02", b"\x00\x06", b"\x01\x06", b"\x00\x15\x00\x03")
    path.receive(sealed(Combined(parts)), 1.0, notes)
    assert [packet for packet, _ in notes.packets] == [b"\x00\x06", b"\x00\x15\x00\x03"]
    assert dict(path._journal.drops) == {
        "not allowed inside a combined packet": 1,
        "not a protocol packet": 1,
    }


def test_nothing_is_read_after_the_end():
    path, notes = make_path(short=True)
    path._lifecycle.advance(SessionStep.END)
    path.close()
    with pytest.raises(MalformedDatagram, match="session is over"):
        path.receive(datagrams(1)[2], 1.0, notes)
    assert not path._journal.events


def test_a_path_does_not_hold_its_receiver():
    path, notes = make_path(short=True)
    for datagram in datagrams(3)[:5]:
        path.receive(datagram, 1.0, notes)
    gone = weakref.ref(notes)
    del notes
    assert gone() is None  # at once, without the collector


def test_messages_before_a_login_are_limited():
    journal = SessionJournal()
    limits = UnauthenticatedLimits(CONFIG)
    limits.check(journal, CONFIG.unauthenticated_message_count_limit)
    with pytest.raises(BrokenChannel):
        limits.check(journal, CONFIG.unauthenticated_message_count_limit + 1)
    journal.events.extend([Message(1, b"")] * CONFIG.unauthenticated_waiting_limit)
    with pytest.raises(BrokenChannel):
        limits.check(journal, 1)
