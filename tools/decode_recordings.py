"""Count how many messages of recordings decode whole, and have the same bytes when encoded again.

    python -m tools.decode_recordings FOLDER... --worst 10

A recording is a text of JSON lines, plain or gzip, with the decrypted messages of sessions: `meta`
lines begin a session (`ver`, the client version), `app` lines are messages (`d`: c2s or s2c, `op`,
`hex`). `c` separates sessions of one file. Each command in OP_ClientCmdMsg counts as one message.

One line for each client version, then the messages that fail most often, with the first fault.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emu.capture.messages import NAMELESS, StructLookup, split_commands
from emu.dialects.dialect import CLIENT_COMMAND
from emu.errors import EmuError
from emu.opcodes import OpcodeTable, OpcodeTables, shipped_tables
from emu.structs import StructLayout, shipped_catalog
from emu.structs.definitions import FieldType
from emu.structs.packed import (
    EXAMINE_INFO,
    ClientCmd,
    oversized,
    pack,
    pack_stream,
    read_oversized,
    reverses_literals,
    unpack_stream,
    write_client_cmd,
    xor,
)
from emu.world_stream.deltas import (
    BaselineList,
    BookReader,
    PredictionReader,
    StateReader,
    envelope_of,
)
from emu.world_stream.ghosts import (
    DESTROY_GHOST,
    FOOTER,
    FOOTERS,
    HEADER,
    PARTS,
    POSITION,
    SECTIONS,
    UPDATE_GHOST,
    GhostReader,
)
from emu.world_stream.stream import (
    BOOKS,
    NEWER_PREDICTION,
    PET,
    PET_STRUCT,
    PET_TAIL,
    PREDICTION,
    SHEET,
    sheet_reader,
)

NO_STRUCT = "no struct"
OTHER_BYTES = "encodes to other bytes"


@dataclass
class Tally:
    """The counts of one client version."""

    messages: int = 0
    whole: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """Failed messages by name."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The first fault of each failed message, with the place."""


class Failed(Exception):  # no error of the program: a finding
    """A message does not decode whole, or encodes to other bytes."""


class Session:
    """The messages of one recorded session, in their order."""

    def __init__(self, version: int, names: OpcodeTable, layouts: StructLookup) -> None:
        self.version = version
        self._names = names
        self._lookup = layouts
        self._readers: dict[str, Any] = {}

    def layout(self, name: str) -> StructLayout:
        """Return the layout of a struct (for the readers of `emu.world_stream`)."""
        return self._lookup.layout(name, self.version)

    def read(self, opcode: int, body: bytes, *, to_server: bool) -> Iterator[tuple[str, str]]:
        """Yield (name, fault) for each message or command; a fault of "" for none."""
        name = self._names.name(opcode)
        if name != CLIENT_COMMAND:
            yield self._one(name, opcode, body, to_server=to_server)
            return
        number = self._names.get(EXAMINE_INFO)
        split = split_commands(body, self.version, number)
        for command in split.commands:
            yield self._one(self._names.name(command.opcode), command.opcode, command.payload)
        if split.problem:
            yield CLIENT_COMMAND, split.problem
        elif self._joined(split.commands) != body:
            yield CLIENT_COMMAND, f"{OTHER_BYTES}: {body[:16].hex()}"

    def _joined(self, commands: Sequence[ClientCmd]) -> bytes:
        return b"".join(write_client_cmd(*one, self.version) for one in commands)

    def _one(
        self, name: str | None, opcode: int, body: bytes, *, to_server: bool = False
    ) -> tuple[str, str]:
        if name is None:
            return f"number {opcode}", NAMELESS
        try:
            again = self._again(name, body, to_server=to_server)
        except (EmuError, Failed) as error:
            return name, str(error)
        if again == body:
            return name, ""
        at = next(
            (i for i, (one, two) in enumerate(zip(again, body, strict=False)) if one != two),
            min(len(again), len(body)),
        )
        return name, f"{OTHER_BYTES} from byte {at} of {len(body)}"

    def _again(self, name: str, body: bytes, *, to_server: bool) -> bytes:
        if name in (PREDICTION, NEWER_PREDICTION) and to_server:
            return self._prediction(name, body)
        if name == SHEET:
            return self._message_of_state(self._reader(SHEET, sheet_reader, self, body), body)
        if name == PET:
            reader = self._reader(PET, StateReader, self.layout(PET_STRUCT), self.version)
            tail = body[-PET_TAIL:]
            return self._message_of_state(reader, body[:-PET_TAIL]) + tail
        if name in BOOKS:
            return self._book(name, body)
        return self._of_ghosts(name, body)

    def _of_ghosts(self, name: str, body: bytes) -> bytes:
        if name in FOOTERS:
            return self._ghost(name, body)
        if name == UPDATE_GHOST:
            return self._update(body)
        again = self._plain(name, body)
        if name == DESTROY_GHOST:
            self._reader("ghosts", GhostReader, self).destroy(body[0])
        return again

    def _plain(self, name: str, body: bytes) -> bytes:
        found = self._lookup.layouts_for(name, None, self.version)
        fault = NO_STRUCT
        for number, layout in enumerate(found):
            if not isinstance(layout, StructLayout):
                continue
            try:
                fields = layout.decode(body)
                again = layout.encode(fields)
            except EmuError as error:
                if not number:
                    fault = str(error)
                continue
            opaque = (one for one in layout.definition.fields if one.type is FieldType.ITEM)
            if any(one.name in fields for one in opaque):
                fault = "a part of it is opaque"
                break
            return again
        raise Failed(f"{fault}, {len(body)} bytes")

    def _reader(self, key: str, make: Any, *arguments: Any) -> Any:
        if key not in self._readers:
            self._readers[key] = make(*arguments)
        return self._readers[key]

    def _state(self, reader: StateReader, before: bytes, now: bytes) -> bytes:
        made = reader.layout.encode(reader.layout.decode(now))
        return pack_stream(xor(made, before), reverse=reverses_literals(self.version))

    def _message_of_state(self, reader: StateReader, body: bytes) -> bytes:
        pair = reader.read_message(body)
        stream = self._state(reader, pair.before or bytes(reader.size), pair.now)
        return len(stream).to_bytes(4, "little") + stream

    def _prediction(self, name: str, body: bytes) -> bytes:
        reader = self._reader(PREDICTION, PredictionReader, self)
        envelope = envelope_of(self)
        fields = envelope.decode(body)
        # The other name's layout is not that of this version.
        if name != envelope.opcode_name:
            raise Failed(NO_STRUCT)
        prediction = reader.read(body)
        if prediction is not None:
            pair = prediction.position
            before = pair.before or bytes(reader.positions.size)
            stream = self._state(reader.positions, before, pair.now)
            fields["packed"] = stream.decode("latin-1")
            fields.pop("packed_size", None)
        return bytes(envelope.encode(fields))

    def _book(self, name: str, body: bytes) -> bytes:
        layout = self.layout(BOOKS[name])
        reader = self._reader(name, BookReader, layout, self.version)
        lists: dict[int, BaselineList] = reader._lists  # noqa: SLF001
        known = dict(lists)
        reader.read(body)
        which = next(key for key, one in lists.items() if known.get(key) is not one)
        now, old = lists[which], known.get(which)
        count = int.from_bytes(body[:2], "little")
        size = count * reader._record + (reader._lead if count else 0)  # noqa: SLF001
        if not count:
            return body[:6] + now.tail
        made = layout.encode(layout.decode(now.message(size)))
        records = made[6 : len(made) - len(now.tail)]
        base = (old.base if old else b"")[:size].ljust(size, b"\0")
        packed = pack(xor(records, base), self.version)
        return body[:2] + packed + made[len(made) - len(now.tail) :]

    def _ghost(self, name: str, body: bytes) -> bytes:
        reader = self._reader("ghosts", GhostReader, self)
        ghost = reader.create(name, body)
        parts = b"".join(self._part(part, ghost.parts[part]) for part in range(len(PARTS)))
        footer = FOOTERS[name] or (FOOTER if ghost.footer else "")
        again = self.layout(HEADER).encode(ghost.header) + pack(parts, self.version)
        return again + (self.layout(footer).encode(ghost.footer) if footer else b"")

    def _part(self, part: int, data: bytes) -> bytes:
        layout = self.layout(PARTS[part])
        return layout.encode(layout.decode(data))

    def _update(self, body: bytes) -> bytes:
        reader = self._reader("ghosts", GhostReader, self)
        update = reader.update(body)
        sections = dict.fromkeys(SECTIONS, b"")
        marks = _marks(body, reader) if self.version >= 562 else {}
        reverse = reverses_literals(self.version)
        for number, (part, index, before, now) in enumerate(update.entries):
            if before is None or now is None:
                raise Failed("an update of a ghost whose creation was not read")
            stream = pack_stream(xor(before, self._part(part, now)), reverse=reverse)
            sections[part] += oversized(index) + marks.get(number, b"") + stream
        time: int = update.time
        return time.to_bytes(4, "little") + b"".join(
            oversized(len(sections[part])) + sections[part] for part in SECTIONS
        )


def _marks(body: bytes, reader: GhostReader) -> dict[int, bytes]:
    """Return the bytes between index and change of each position entry, by its number."""
    found: dict[int, bytes] = {}
    at, number = 4, 0
    for part in SECTIONS:
        length, at = read_oversized(body, at)
        end = at + length
        while at < end:
            index, at = read_oversized(body, at)
            if part == POSITION:
                size = reader._mark_size(index, body[at:end])  # noqa: SLF001
                found[number] = body[at : at + size]
                at += size
            _, at = unpack_stream(body, reader.sizes[part], reverse=True, offset=at, end=end)
            number += 1
    return found


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a recording that are objects."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line) if line.strip() else None
            if isinstance(row, dict):
                yield row


def read_recording(
    path: Path, tables: OpcodeTables, layouts: StructLookup, tallies: dict[int, Tally]
) -> None:
    """Read the messages of one file into the counts of their versions."""
    sessions: dict[str, Session] = {}
    for number, row in enumerate(rows(path), start=1):
        kind, client = row.get("k"), str(row.get("c"))
        if kind == "meta" and "ver" in row:
            version = int(row["ver"])
            sessions[client] = Session(version, tables.for_version(version), layouts)
        elif kind == "app" and client in sessions:
            session = sessions[client]
            body = bytes.fromhex(row["hex"])
            tally = tallies[session.version]
            for name, fault in session.read(row["op"], body, to_server=row["d"] == "c2s"):
                tally.messages += 1
                if fault:
                    tally.faults[name] += 1
                    tally.reasons.setdefault(name, f"{fault} ({path.name}:{number})")
                else:
                    tally.whole += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the recordings that the command line names; 1 if a message failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file or a folder")
    parser.add_argument("--worst", type=int, default=10, help="failing messages to show (10)")
    options = parser.parse_args(arguments)
    tallies: dict[int, Tally] = defaultdict(Tally)
    tables, layouts = shipped_tables(), StructLookup(shipped_catalog())
    for path in options.paths:
        for file in sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]:
            read_recording(file, tables, layouts, tallies)
    for version, tally in sorted(tallies.items()):
        share = 100 * tally.whole / tally.messages
        print(f"{version}: {tally.whole:,} of {tally.messages:,} decode whole, {share:.1f} %")
        for name, many in tally.faults.most_common(options.worst):
            print(f"  {many:6,} {name}: {tally.reasons[name]}")
    total, whole = (
        sum(getattr(one, key) for one in tallies.values()) for key in ("messages", "whole")
    )
    print(f"all: {whole:,} of {total:,}, {100 * whole / max(total, 1):.1f} %")
    return int(whole < total)


if __name__ == "__main__":
    sys.exit(main())
