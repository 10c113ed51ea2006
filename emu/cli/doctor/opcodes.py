"""Checks of the opcode tables: whether they are readable and complete for clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from emu.cli.doctor.findings import Finding, fail, ok, warn
from emu.database.sqlite import readable_errors
from emu.errors import EmuError
from emu.opcodes import OpcodeRow, OpcodeTables
from emu.opcodes.checks import Missing, check, errors, missing_messages
from emu.opcodes.store import connect, read_stored_rows, schema
from emu.opcodes.text import shipped_rows, shipped_tables
from emu.versions import CLIENT_2006

OPCODES: Final = "opcodes"


def check_opcodes(path: Path) -> Iterator[Finding]:
    """Check the tables of the database, or the program's own if it has none."""
    try:
        rows = stored_rows(path)
    except EmuError as error:
        yield fail(OPCODES, str(error), "emu opcodes import restores them")
        return
    yield from judge_rows(rows if rows is not None else shipped_rows())


def stored_rows(path: Path) -> Sequence[OpcodeRow] | None:
    """Return the database's rows, None if it has no tables of this program's schema."""
    if not path.exists():
        return None
    with connect(path) as database, readable_errors(path):
        if schema().version(database.connection) != schema().newest:
            return None
        return read_stored_rows(database.connection)


def judge_rows(rows: Sequence[OpcodeRow]) -> Iterator[Finding]:
    """Judge the tables: readable, without contradictions, and enough for clients."""
    tables, shipped = OpcodeTables(rows), shipped_tables()
    ranges = list(tables.ranges)
    if not ranges:
        yield fail(OPCODES, "the tables are empty", "emu opcodes import restores them")
        return
    text = f"{len(rows)} rows in {len(ranges)} ranges, {ranges[0]} to {ranges[-1]}"
    wrong = errors(check(rows))
    if wrong:
        yield warn(
            OPCODES, f"{text}; contradictions: {len(wrong)}, the first {wrong[0].message}",
            "emu opcodes check lists them; emu opcodes undo reverts an edit",
        )  # fmt: skip
    else:
        yield ok(OPCODES, f"{text}, without contradictions")
    if not tables.covers(CLIENT_2006):
        yield fail(OPCODES, f"no range covers client {CLIENT_2006}", "emu opcodes import")
        return
    # Numbers that the program does not ship either are no fault of this database.
    missing = [one for one in missing_messages(tables, shipped) if one.lost]
    yield from (judge_lost(one) for one in missing)
    if all(not is_of_2006(one) for one in missing):
        yield ok(OPCODES, f"clients {CLIENT_2006} have all messages of a login")


def judge_lost(missing: Missing) -> Finding:
    """Judge messages that the tables have lost; those of the 2006 client are a fault."""
    judge = fail if is_of_2006(missing) else warn
    return judge(
        OPCODES, f"clients {missing.versions} cannot be served without {', '.join(missing.lost)}",
        "emu opcodes history shows who removed them; emu opcodes undo reverts that",
    )  # fmt: skip


def is_of_2006(missing: Missing) -> bool:
    """Return whether a span of versions contains the 2006 client, this server's main client."""
    return missing.versions.first <= CLIENT_2006 <= missing.versions.last
