"""Fuzz the capture readers and the session follower with mutated captures.

Invariant: whatever the bytes, the records come out or one `FileFormatError` is raised; the follower
raises nothing at all. Each input is read whole and in small pieces, and both must agree.

    python -m tools.fuzz_capture --seconds 60 [--seed N] [FILE ...]

FILEs (captures) join the built-in seeds. The first failing input is written to fuzz-capture.bin.
"""

from __future__ import annotations

import argparse
import gzip
import random
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

from emu.capture.formats.frames import ETHERNET, RAW
from emu.capture.formats.pcap import CaptureReader
from emu.capture.formats.records import Record
from emu.capture.messages import MessageDecoder, StructLookup
from emu.capture.sessions.follow import CaptureFollower
from emu.capture.trace import TraceWriter, ip_packet
from emu.errors import FileFormatError
from emu.opcodes import OpcodeTables
from emu.session import Role, Session, SessionConfig
from emu.structs import StructCatalog
from emu.times import Monotonic

CLIENT, SERVER = ("10.0.0.1", 40001), ("10.0.0.2", 9100)
INTERESTING = (0, 1, 2, 3, 4, 8, 0x7F, 0x80, 0xFF, 0x0A, 0x0D)
MAX_INPUT = 100_000


def session_datagrams() -> list[tuple[bool, bytes]]:
    """Return a short session as (from the client?, datagram)."""
    client = Session(SessionConfig(), role=Role.CLIENT, session_id=7, key_block=bytes(range(1, 61)))
    server = Session(SessionConfig(), role=Role.SERVER, check_key=9)
    client.connect(Monotonic(0.0))
    said = []
    for turn in range(12):
        now = Monotonic(turn / 10)
        for from_client, one, other in ((True, client, server), (False, server, client)):
            for data in one.datagrams_to_send(now):
                said.append((from_client, data))
                other.receive_datagram(data, now)
            if turn > 2:
                one.send(turn, bytes(turn * 90))
    return said


def seeds() -> list[bytes]:
    """Return captures of one session in every format."""
    trace = TraceWriter()
    ng = trace.header() + trace.key(7, check_key=9, rc4_key=bytes(8))
    old, ethernet = (
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link) for link in (RAW, ETHERNET)
    )
    for number, (from_client, data) in enumerate(session_datagrams()):
        ends = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
        ng += trace.datagram(float(number), *ends, data)
        packet = ip_packet(*ends, data)
        framed = bytes(12) + b"\x08\x00" + packet
        old += struct.pack("<IIII", number, 0, len(packet), len(packet)) + packet
        ethernet += struct.pack("<IIII", number, 0, len(framed), len(framed)) + framed
    return [ng, old, ethernet, gzip.compress(ng)]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return a damaged copy."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(5)
        if kind == 0 and out:
            out[at % len(out)] = rng.choice(INTERESTING)
        elif kind == 1:
            del out[at : at + rng.choice((1, 2, 4, 16, 500))]
        elif kind == 2:
            out[at:at] = rng.randbytes(rng.choice((1, 4, 32)))
        elif kind == 3:
            number = rng.choice((0, 1, 0xFFFF, 0xFFFFFFFF, 0x7FFFFFFF, rng.getrandbits(32)))
            out[at : at + 4] = struct.pack(rng.choice("<>") + "I", number)
        else:
            start = rng.randrange(len(out) + 1)
            out[at:at] = out[start : start + rng.randrange(400)]
    return bytes(out[:MAX_INPUT])


def read(data: bytes, step: int, take: Callable[[Record], None]) -> str:
    """Read a capture; return the error's text, or nothing."""
    reader = CaptureReader()
    try:
        for at in range(0, len(data), step):
            for record in reader.receive_data(data[at : at + step]):
                take(record)
        reader.close()
    except FileFormatError as error:
        return str(error)
    return ""


def check(data: bytes, step: int) -> None:
    """Raise when the invariant does not hold for one input."""
    whole: list[Record] = []
    pieces: list[Record] = []
    errors = read(data, len(data) + 1, whole.append), read(data, step, pieces.append)
    if whole != pieces or errors[0] != errors[1]:
        raise AssertionError(f"whole and in pieces differ: {errors}")
    follower = CaptureFollower(MessageDecoder(OpcodeTables(()), StructLookup(StructCatalog())))
    for record in whole:
        for _ in follower.receive(record):
            pass
    for _ in follower.close():
        pass


def main() -> None:
    """Fuzz until the time is up."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().getrandbits(32)
    rng = random.Random(seed)
    corpus = seeds() + [path.read_bytes()[:MAX_INPUT] for path in options.files]
    end, runs = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        data = mutate(rng.choice(corpus), rng)
        try:
            check(data, rng.randint(1, 60))
        except Exception:
            Path("fuzz-capture.bin").write_bytes(data)
            print(f"seed {seed}, run {runs}: failed; input in fuzz-capture.bin", file=sys.stderr)
            raise
        runs += 1
    print(f"{runs} inputs, seed {seed}: nothing found")


if __name__ == "__main__":
    main()
