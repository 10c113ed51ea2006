"""Opcode tables: whether they can be read, and whether clients can be served with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.database import readable_errors
from emu.errors import EmuError
from emu.opcodes import OpcodeRow, OpcodeTables
from emu.opcodes.checks import Missing, check, errors, missing_messages
from emu.opcodes.store import connect, read_stored_rows, schema
from emu.opcodes.text import shipped_rows, shipped_tables
from emu.versions import CLIENT_2006

OPCODES: Final = "opcodes"


def look_at_opcodes(path: Path) -> Iterator[Finding]:
    """Look at the tables of the database, or at the program's own while it has none."""
    try:
        rows = stored_rows(path)
    except EmuError as error:
        yield fail(OPCODES, str(error), "emu opcodes import brings good tables")
        return
    yield from judge_rows(rows if rows is not None else shipped_rows())


def stored_rows(path: Path) -> Sequence[OpcodeRow] | None:
    """Return the database's rows, None while it has no tables of this program's schema."""
    if not path.exists():
        return None
    with connect(path) as database, readable_errors(path):
        if schema().version(database.connection) != schema().newest:
            return None
        return read_stored_rows(database.connection)


def judge_rows(rows: Sequence[OpcodeRow]) -> Iterator[Finding]:
    """Judge tables: readable, without contradictions, and enough for clients."""
    tables, shipped = OpcodeTables(rows), shipped_tables()
    ranges = list(tables.ranges)
    if not ranges:
        yield fail(OPCODES, "the tables are empty", "emu opcodes import brings good ones")
        return
    text = f"{len(rows)} rows in {len(ranges)} ranges, {ranges[0]} to {ranges[-1]}"
    wrong = errors(check(rows, used={row.name for row in shipped_rows()}))
    if wrong:
        yield warn(
            OPCODES, f"{text}; contradictions: {len(wrong)}, the first {wrong[0].message}",
            "emu opcodes check lists them; emu opcodes undo takes an edit back",
        )  # fmt: skip
    else:
        yield ok(OPCODES, f"{text}, without contradictions")
    if not tables.covers(CLIENT_2006):
        yield fail(OPCODES, f"no range covers client {CLIENT_2006}", "emu opcodes import")
        return
    missing = [one for one in missing_messages(tables, shipped) if one.lost]
    yield from (judge_lost(one) for one in missing)
    if all(not is_of_2006(one) for one in missing):
        yield ok(OPCODES, f"clients {CLIENT_2006} have all messages that logging in needs")


def judge_lost(missing: Missing) -> Finding:
    """Judge messages that clients had and have no more: of the one of 2006 they end everything."""
    judge = fail if is_of_2006(missing) else warn
    return judge(
        OPCODES, f"clients {missing.versions} cannot be served without {', '.join(missing.lost)}",
        "emu opcodes history shows who removed them; emu opcodes undo takes that back",
    )  # fmt: skip


def is_of_2006(missing: Missing) -> bool:
    """Say whether a span of versions has the client that this server is made for."""
    return missing.versions.first <= CLIENT_2006 <= missing.versions.last
