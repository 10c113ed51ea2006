"""Dumps of EQ2Emulator's login database, made up, and what an import makes of them."""

from __future__ import annotations

import io
from typing import Any

from emu.login.names import account_name
from emu.sqldump import read_inserts
from emu.sqldump.report import ImportReport
from emu.store import Store
from emu.store.eq2emu import import_dump
from emu.times import Moment

HASH = "ab" * 64
OTHER = "cd" * 64


def take(store: Store, dump: str, **options: Any) -> ImportReport:
    """Import a dump."""
    return import_dump(
        store,
        lambda tables: read_inserts(io.BytesIO(dump.encode()), tables),
        clean_name=account_name,
        moment=Moment(50.0),
        **options,
    )


def counts(report: ImportReport) -> dict[str, tuple[int, int, int, int]]:
    """Return read, added, here already and left out of the tables that the dump has."""
    return {
        name: (tally.read, tally.added, tally.present, tally.skipped)
        for name, tally in report.tables.items()
        if tally.read
    }


def insert(table: str, **columns: object) -> str:
    """Return the statement for one row."""
    values = ", ".join(repr(value) for value in columns.values())
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values});\n"
