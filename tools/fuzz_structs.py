"""Fuzz packet structs: mutated messages, random values, mutated struct files, packed streams.

Invariants: decoding any bytes gives values or raises `MalformedMessage`; values that were decoded
encode, and decode to the same again; encoding any values gives bytes or `StructValueError`; a
struct file is read or refused with one `FileFormatError` of one line; an unpacked stream has the
size that was asked for.

    python -m tools.fuzz_structs --seconds 60 [--seed N] [FILE ...]

FILEs (struct files) join the shipped ones. The first failing case is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from emu.errors import FileFormatError, MalformedMessage, StructValueError
from emu.files import data_file
from emu.structs import StructCatalog, StructLayout, shipped_catalog
from emu.structs.packed import pack_stream, read_client_cmds, unpack_stream, write_client_cmd
from emu.structs.reader import read_text

INTERESTING = (0, 1, 2, 3, 7, 0x7F, 0x80, 0xFE, 0xFF)
MAX_INPUT = 20_000


class Failed(Exception):
    """An invariant does not hold; the text says which and for what."""


class Fuzzer:
    """Draws cases and checks what must hold for them."""

    def __init__(self, seed: int, files: list[Path]) -> None:
        self.random = random.Random(seed)
        catalog = StructCatalog(shipped_catalog())
        for path in files:
            catalog.load(path)
        self.layouts = [catalog.layout(made.name, made.client_version) for made in catalog]
        self.texts = [_read(path) for path in (*sorted(data_file("structs").glob("*.xml")), *files)]
        self.cases: list[Callable[[], None]] = [
            self.message, self.message, self.message, self.values, self.stream, self.commands,
            self.file,
        ]  # fmt: skip

    def once(self) -> None:
        """Draw and check one case."""
        self.random.choice(self.cases)()

    def message(self) -> None:
        """Decode a mutated message of one struct, three ways."""
        layout = self.random.choice(self.layouts)
        kind = self.random.randrange(3)
        if kind == 0:
            raw = self.random.randbytes(self.random.randrange(300))
        elif kind == 1:
            raw = self.mutated(layout.encode({}))
        else:
            empty = layout.encode({})
            raw = bytes(self.random.choice((0, 0, 0, 1, byte)) for byte in empty.ljust(60, b"\2"))
            raw = self.mutated(raw + self.random.randbytes(self.random.randrange(60)))
        self.check_message(layout, raw)

    def check_message(self, layout: StructLayout, raw: bytes) -> None:
        """Check what must hold for any bytes and any layout."""
        where = f"{layout.name} {layout.client_version} {raw.hex()}"
        with contextlib.suppress(MalformedMessage):
            layout.decode_short(raw)
        try:
            values, end = layout.decode_prefix(raw)
        except MalformedMessage:
            return
        if not 0 <= end <= len(raw):
            raise Failed(f"ends at {end}: {where}")
        try:
            values = layout.decode(raw[:end])
        except MalformedMessage:
            return  # elements of no bytes are not counted beyond the end of a message
        try:
            again = layout.encode(values)
        except StructValueError as error:
            if "as its count says" in str(error) or "but " in str(error):
                return  # MaxArraySize cut the list off
            raise Failed(f"what was decoded does not encode ({error}): {where}") from error
        try:
            same = layout.decode(again)
        except MalformedMessage as error:
            raise Failed(f"what was encoded does not decode ({error}): {where}") from error
        if repr(same) != repr(values):
            raise Failed(f"decodes to something else again: {where}")

    def values(self) -> None:
        """Encode values of all kinds."""
        layout = self.random.choice(self.layouts)
        fields = self.random_fields(layout)
        with contextlib.suppress(StructValueError):
            layout.encode(fields)

    def random_fields(self, layout: StructLayout) -> dict[str, Any]:
        """Return some fields of a struct with values that may or may not fit."""
        names = [entry.name for entry in layout.definition.fields]
        chosen = self.random.sample(names, self.random.randrange(min(len(names), 6) + 1))
        return {name: self.random_value(2) for name in chosen}

    def random_value(self, depth: int) -> Any:
        """Return a value as JSON may have it."""
        kind = self.random.randrange(8 if depth else 5)
        if kind < 2:
            return self.random.randrange(4)
        if kind == 2:
            return self.random.choice((-1, 255, 65_535, 65_536, 2**32 - 1, 2**64, 1.5, 1e300))
        if kind < 5:
            return self.random.randbytes(self.random.randrange(6)).decode("latin-1")
        if kind < 7:
            return [self.random_value(depth - 1) for _ in range(self.random.randrange(4))]
        return {"type": 1, "color": self.random_value(0)}

    def stream(self) -> None:
        """Pack, unpack, and unpack what was mutated."""
        pieces = [
            self.random.randbytes(self.random.randrange(20)) + bytes(self.random.randrange(300))
            for _ in range(self.random.randrange(6))
        ]
        raw, reverse = b"".join(pieces), self.random.random() < 0.5
        stream = pack_stream(raw, reverse=reverse)
        if unpack_stream(stream, len(raw), reverse=reverse) != (raw, len(stream)):
            raise Failed(f"does not unpack to itself: {raw.hex()}")
        with contextlib.suppress(MalformedMessage):
            size = self.random.randrange(5000)
            made, end = unpack_stream(self.mutated(stream), size, reverse=reverse)
            if len(made) != size or end < 0:
                raise Failed(f"unpacks to another size: {stream.hex()}")

    def commands(self) -> None:
        """Read mutated bodies of OP_ClientCmdMsg."""
        version = self.random.choice((283, 374, 375, 546))
        body = b"".join(
            write_client_cmd(self.random.randrange(500), bytes(self.random.randrange(300)), version)
            for _ in range(self.random.randrange(4))
        )
        with contextlib.suppress(MalformedMessage):
            read_client_cmds(self.mutated(body), version)

    def file(self) -> None:
        """Read a mutated struct file."""
        text = self.random.choice(self.texts)
        start = self.random.randrange(len(text))
        piece = self.mutated(text[start : start + self.random.randrange(2000)])
        whole = b"<EQ2Emulator>" + piece[piece.find(b"<Struct") :]
        complaints: list[FileFormatError] | None = [] if self.random.random() < 0.5 else None
        try:
            read_text(whole, "fuzz.xml", None, complaints)
            read_text(self.mutated(whole[:4000]) + b"</EQ2Emulator>", "fuzz.xml", None, complaints)
        except FileFormatError as error:
            complaints = [*(complaints or ()), error]
        for complaint in complaints or ():
            if "\n" in str(complaint) or len(str(complaint)) > 600:
                raise Failed(f"not one line: {whole!r}") from complaint

    def mutated(self, raw: bytes) -> bytes:
        """Return bytes with a few of them changed, cut out, doubled or put in."""
        out = bytearray(raw[:MAX_INPUT])
        for _ in range(self.random.randrange(5)):
            at = self.random.randrange(len(out) + 1)
            what = self.random.randrange(5)
            if what == 0 and at < len(out):
                out[at] = self.random.choice(INTERESTING)
            elif what == 1 and at < len(out):
                out[at] ^= 1 << self.random.randrange(8)
            elif what == 2:
                del out[at : at + self.random.randrange(1, 9)]
            elif what == 3:
                out[at:at] = self.random.randbytes(self.random.randrange(1, 9))
            else:
                out[at:at] = out[at : at + 40]
        return bytes(out)


def _read(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def main() -> None:
    """Fuzz for as long as was asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    fuzzer = Fuzzer(options.seed, options.files)
    print(f"seed {options.seed}, {len(fuzzer.layouts)} layouts")
    end = time.monotonic() + options.seconds
    count = 0
    while time.monotonic() < end:
        fuzzer.once()
        count += 1
    print(f"{count} cases, all invariants hold")


if __name__ == "__main__":
    main()
