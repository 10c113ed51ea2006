"""Fuzz sessions in every state with arbitrary bytes.

The property, which `tests/session/test_session_any_bytes.py` also checks with hypothesis: a
datagram results in events or a counted drop, never in an exception; a session holds no more than
the limits of its configuration; no outgoing datagram is longer than MaxLength; an unvalidated
address gets at most three times its bytes.

    python tools/fuzz_session.py --seconds 60 --seed 1

Prints one line with a summary. A failure prints the seed, the state and the datagrams in hex.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from emu.times import Monotonic

if __name__ == "__main__":  # so that it runs from a bare checkout
    sys.path.insert(0, str(Path(__file__).parent.parent))

from emu.session import Role, Session, SessionConfig, StreamType
from emu.wire import AppCombined, Combined, ProtocolOpcode, SessionRequest, push_packet

CHECK_KEY = 0x33624702
KEY_BLOCK = bytes(range(1, 61))
SMALL = {
    "message_size_limit": 19_000,
    "message_size_limit_before_key": 500,
    "held_packet_limit": 20,
    "held_bytes_limit": 4000,
    "window": 64,
    "combined_count_limit": 20,
    "app_combined_count_limit": 40,
}
"""Limits small enough for a fuzzer to run into."""


def _joined(stream_type: StreamType, rounds: int) -> tuple[Session, Session]:
    """Return a client and a server after so many exchanges: 0 unopened, 1 asked, 2 answered, ..."""
    config = SessionConfig(stream_type=stream_type, **SMALL)
    client = Session(config, role=Role.CLIENT, session_id=7, key_block=KEY_BLOCK)
    server = Session(config, role=Role.SERVER, check_key=CHECK_KEY)
    if rounds:
        client.connect(Monotonic(0.0))
    for number in range(1, rounds):
        source, target = (client, server) if number % 2 else (server, client)
        for datagram in source.datagrams_to_send(Monotonic(0.1)):
            target.receive_datagram(datagram, Monotonic(0.1))
    return client, server


def _busy(stream_type: StreamType) -> tuple[Session, Session]:
    """Return both sides in the middle of a fragmented message each way."""
    client, server = _joined(stream_type, 12)
    client.send(3, bytes(3000))
    server.send(3, random.Random(1).randbytes(3000))
    for source, target in ((client, server), (server, client)):
        for datagram in source.datagrams_to_send(Monotonic(0.2))[:3]:
            target.receive_datagram(datagram, Monotonic(0.2))
    return client, server


def _closing(stream_type: StreamType) -> tuple[Session, Session]:
    client, server = _busy(stream_type)
    client.close()
    server.close()
    return client, server


def _ended(stream_type: StreamType) -> tuple[Session, Session]:
    client, server = _joined(stream_type, 12)
    client.discard("over")
    server.discard("over")
    return client, server


STATES: dict[str, Callable[[StreamType], tuple[Session, Session]]] = {
    "unopened": lambda kind: _joined(kind, 0),
    "asked": lambda kind: _joined(kind, 2),
    "answered": lambda kind: _joined(kind, 3),
    "validated": lambda kind: _joined(kind, 4),
    "key asked": lambda kind: _joined(kind, 5),
    "keyed": lambda kind: _joined(kind, 12),
    "busy": _busy,
    "closing": _closing,
    "ended": _ended,
}


def make_session(state: str, stream_type: StreamType, role: Role) -> Session:
    """Return one side in a named state."""
    client, server = STATES[state](stream_type)
    return client if role is Role.CLIENT else server


def sealed(session: Session, packet: bytes) -> bytes:
    """Return a packet with the check (and format) the session expects, if it has one."""
    seal = session._received.seal  # noqa: SLF001  # a fuzzer forges what only a peer could make
    return packet if seal is None else seal.seal(packet)


def feed(session: Session, datagrams: Iterable[bytes], now: float = 1.0) -> None:
    """Give datagrams to a session and check the property after each."""
    config = session.config
    for datagram in datagrams:
        dropped = sum(session.drops.values())
        session.receive_datagram(datagram, Monotonic(now))
        assert sum(session.drops.values()) >= dropped
        while session.next_event() is not None:
            pass
        for answer in session.datagrams_to_send(Monotonic(now)):
            assert len(answer) <= max(session.max_length, 21)
        assert session.next_event() is None or session.ended
        if not session.validated:
            counted = session.statistics()
            assert counted.bytes_sent <= config.amplification_limit * counted.bytes_received
        _check_memory(session)
        timer = session.get_timer()
        now += 0.05
        if timer is not None and timer <= now:
            session.handle_timer(Monotonic(now))


def _check_memory(session: Session) -> None:
    config = session.config
    statistics = session.statistics()
    channel = session._channel  # noqa: SLF001  # how much is held is nobody else's business
    assert statistics.packets_held <= config.held_packet_limit
    assert channel.window.held_bytes <= config.held_bytes_limit
    assert channel.partial_bytes <= config.payload_size_limit
    assert statistics.queued_bytes <= config.send_queue_limit + config.payload_size_limit
    assert len(session.drops) <= 60


def random_datagram(source: random.Random, session: Session) -> bytes:
    """Return something that a hostile or broken peer could send."""
    opcode = source.choice((*ProtocolOpcode, source.randrange(256)))
    body = source.randbytes(source.choice((0, 1, 2, 3, 4, 6, 10, 40, 300)))
    near = (session._channel.window.expected + source.randrange(-3, 8)) & 0xFFFF  # noqa: SLF001
    numbered = near.to_bytes(2, "big") + body
    packet = bytes((0, opcode)) + source.choice((body, numbered, numbered))
    match source.randrange(10):
        case 0:
            return source.randbytes(source.randrange(0, 80))
        case 1:
            return packet
        case 2:
            return push_packet(SessionRequest(source.choice((7, 8)), source.randrange(2**32)))
        case 3:
            total = source.choice((0, 1, 100, 19_000, 2**32 - 1)).to_bytes(4, "big")
            packet = b"\x00\x0d" + near.to_bytes(2, "big") + total + body
        case 4:
            parts = source.choice((b"\x00", bytes((len(packet) & 0xFF,)) + packet))
            packet = b"\x00\x03" + parts * source.choice((1, 2, 3, 30))
        case 5:
            marker = source.choice((b"\x00\x19", b"\x00\x00", b"\x00\x19\x00\x19"))
            packet = b"\x00\x09" + near.to_bytes(2, "big") + marker + body
        case 6:
            kinds = (
                b"\x00",
                b"\x00\x19\x01a",
                b"\x00\x00a",
                bytes(68),
                body or b"a",
                KEY_BLOCK + body,
            )
            messages = tuple(source.choice(kinds) for _ in range(source.choice((1, 2, 3, 41))))
            payload = push_packet(AppCombined(messages))
            packet = b"\x00\x09" + near.to_bytes(2, "big") + payload
        case 7:
            for _ in range(source.randrange(1, 8)):
                packet = push_packet(Combined((packet,)))
    return sealed(session, packet)


def main() -> int:
    """Run for some seconds; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    source = random.Random(seed)
    end = time.monotonic() + options.seconds
    sessions = datagrams = 0
    while time.monotonic() < end:
        state = source.choice(list(STATES))
        stream_type = source.choice(list(StreamType))
        role = source.choice(list(Role))
        session = make_session(state, stream_type, role)
        given: list[bytes] = []
        try:
            for _ in range(source.randrange(1, 60)):
                given.append(random_datagram(source, session))
                feed(session, given[-1:], 1.0 + len(given) * 0.05)
        except Exception:
            print(f"failed: --seed {seed}, {role.value} {stream_type.label}, state {state!r}")
            for datagram in given:
                print(datagram.hex())
            raise
        sessions += 1
        datagrams += len(given)
    print(f"seed {seed}: {sessions} sessions took {datagrams} datagrams, all well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
