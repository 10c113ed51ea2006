"""Captures of sessions that never touched a network: two real sessions joined by a loop."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from emu.capture.formats.records import Address, Datagram
from emu.capture.trace import ip_packet
from emu.session import Message, Role, Session, SessionConfig
from emu.times import Monotonic
from tests.support.files.captures import CLIENT, SERVER, classic

KEY_BLOCK = bytes(range(1, 61))


def login_request(version: int, user: bytes = b"testlabs") -> bytes:
    """Return OP_LoginRequestMsg's body as clients up to 1211 send it.

    Source: docs/protocol/login.md#request.
    """
    strings = b"".join(len(text).to_bytes(2, "little") + text for text in (b"", b"", user, b"x"))
    return strings + struct.pack("<IIHHHIBH", 0, 0, version, 0, 0, 0, 0, 0)


def login_by_number(version: int, account: int = 101) -> bytes:
    """Return OP_LoginByNumRequestMsg's body of 30 bytes.

    Source: docs/protocol/world/entering.md#login-by-num.
    """
    return struct.pack("<IIH20x", account, 0x3FD515C0, version)


@dataclass
class Conversation:
    """Two sessions joined: what they say to each other is kept in `datagrams`, in order.

    `heard` is (from the client?, opcode, body) of every message that arrived.
    """

    session_id: int = 0x5352F60F
    check_key: int = 0x1234ABCD
    client: Address = CLIENT
    server: Address = SERVER
    config: SessionConfig = field(default_factory=SessionConfig)
    t: float = 1_700_000_000.0
    datagrams: list[Datagram] = field(default_factory=list)
    heard: list[tuple[bool, int, bytes]] = field(default_factory=list)
    loses: Callable[[], bool] = lambda: False
    """Whether the network loses the next datagram behind the place where it is captured."""

    def __post_init__(self) -> None:
        self.client_session = Session(
            self.config, role=Role.CLIENT, session_id=self.session_id, key_block=KEY_BLOCK
        )
        self.server_session = Session(self.config, role=Role.SERVER, check_key=self.check_key)
        self.server_session.trust()
        self.client_session.connect(Monotonic(self.t))

    def say(self, from_client: bool, opcode: int, body: bytes) -> None:
        """Queue a message; `run` delivers it."""
        (self.client_session if from_client else self.server_session).send(opcode, body)

    def run(self) -> None:
        """Exchange datagrams until both sides are quiet."""
        while self._pass(self.client_session, self.server_session, self.client, self.server) + (
            self._pass(self.server_session, self.client_session, self.server, self.client)
        ):
            pass

    def run_until_heard(self, count: int) -> None:
        """Exchange datagrams, with timers, until `count` messages have arrived."""
        while len(self.heard) < count:
            self.run()
            for one in (self.client_session, self.server_session):
                timer = one.get_timer()
                if timer is not None and timer <= self.t:
                    one.handle_timer(Monotonic(self.t))
            self.t += 0.05
            assert self.t < 1_700_010_000, "the sessions gave up"

    def close(self) -> None:
        """End the session from the client's side."""
        self.client_session.close()
        self.run()

    def _pass(self, one: Session, other: Session, source: Address, target: Address) -> int:
        self.t += 0.01
        datagrams = one.datagrams_to_send(Monotonic(self.t))
        for data in datagrams:
            self.datagrams.append(Datagram(self.t, source, target, data))
            if not self.loses():
                other.receive_datagram(data, Monotonic(self.t))
        while (event := other.next_event()) is not None:
            if isinstance(event, Message):
                self.heard.append((source == self.client, event.opcode, event.payload))
        return len(datagrams)


def whole_session(messages: Sequence[tuple[bool, int, bytes]], **options: object) -> Conversation:
    """Return a finished conversation in which `messages` were said one after the other."""
    conversation = Conversation(**options)  # type: ignore[arg-type]
    conversation.run()
    for from_client, opcode, body in messages:
        conversation.say(from_client, opcode, body)
        conversation.run()
    assert conversation.heard == list(messages)
    conversation.close()
    return conversation


def pcap(datagrams: Sequence[Datagram]) -> bytes:
    """Return a classic pcap file of these datagrams."""
    made = classic([])
    for one in datagrams:
        frame = ip_packet(one.source, one.destination, one.payload)
        seconds, fraction = divmod(round(one.t * 1_000_000), 1_000_000)
        made += struct.pack("<IIII", seconds, fraction, len(frame), len(frame)) + frame
    return made
