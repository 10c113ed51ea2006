"""Writes imported zone files, and keeps those that an operator has changed.

The head of each file has a digest of the rest. If it does not match, the file was changed by hand,
and the import does not overwrite it. The TOML is written here and not by tomli-w, which puts each
number on its own line and would make six lines of every place.
"""

from __future__ import annotations

import enum
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emu.errors import CommandError
from emu.files import ANYBODY, begins_with, partial_file
from emu.schema.writing import toml_key, toml_value
from emu.sqldump import ImportReport

# Part of every written file: a change of this text makes old files count as changed by hand.
HEAD: Final = """\
# Brought from an EQ2Emulator database by `emu world import-eq2emu`, which writes it anew as long as
# nobody has changed it. Put what is yours into a file of your own, with extends = true.
# sha256: """


class Fate(enum.Enum):
    """The result for one file of an import."""

    WRITTEN = "written"
    SAME = "here already"
    KEPT = "changed by hand"


@dataclass(slots=True)
class Document:
    """A file to write: its name, its tables, and the number of imported rows by source table."""

    name: str
    tables: dict[str, Any]
    counts: Counter[str] = field(default_factory=Counter)


def store(
    document: Document, folder: Path, report: ImportReport, *, dry_run: bool, replace: bool
) -> None:
    """Write a document and count its rows by the result; with `dry_run` only count them.

    A file that was changed by hand stays, with a note, unless `replace`. Raises `CommandError`.
    """
    path = folder / document.name
    text = text_of(document.tables)
    fate = fate_of(path, text, replace=replace)
    if fate is Fate.KEPT:
        report.note(document.name, f"{path} was changed by hand and was kept; see --replace")
        return
    if fate is Fate.WRITTEN and not dry_run:
        write(path, text)
    for table, rows in document.counts.items():
        if fate is Fate.SAME:
            # So that a repeated import reports nothing new.
            report.tables[table].present += rows
        else:
            report.tables[table].added += rows


def text_of(tables: Mapping[str, Any]) -> str:
    """Return a document as TOML: tables, lists of tables, and plain values in them."""
    written = []
    for name, value in tables.items():
        if isinstance(value, list):
            written += [_table(f"[[{name}]]", row) for row in value]
        else:
            written.append(_table(f"[{name}]", value))
    body = "\n".join(written)
    return f"{HEAD}{_digest(body)}\n\n{body}"


def fate_of(path: Path, text: str, *, replace: bool = False) -> Fate:
    """Return the result of writing a text to a file. Raises `CommandError`."""
    try:
        # surrogateescape: a file of the operator may have any bytes and must only be compared.
        there = path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return Fate.WRITTEN
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror})") from None
    if there == text:
        return Fate.SAME
    return Fate.WRITTEN if replace or _is_untouched(there) else Fate.KEPT


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all. Raises `CommandError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # ANYBODY: zone files have no secrets, and other tools read them.
        with partial_file(path, ANYBODY) as fresh:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror})") from None


def is_imported(path: Path) -> bool:
    """Return whether the import wrote a file, even if it was changed since."""
    return begins_with(path, HEAD)


def _is_untouched(text: str) -> bool:
    if not text.startswith(HEAD):
        return False
    # The digest covers the rest of the file, so any change by hand shows.
    digest, _, body = text.removeprefix(HEAD).partition("\n\n")
    return digest == _digest(body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()


def _table(title: str, rows: Mapping[str, Any]) -> str:
    lines = [f"{toml_key(name)} = {toml_value(value)}\n" for name, value in rows.items()]
    return f"{title}\n{''.join(lines)}"
