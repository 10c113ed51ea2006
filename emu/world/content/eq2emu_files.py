"""Files of zones as an import writes them, and which of those that are there it may write anew.

The head of each file holds a digest of the rest; one that does not fit any more was changed by
hand. Why not a library: tomli-w writes one number a line, which makes six lines of every place, and
these files are meant to be read.
"""

from __future__ import annotations

import enum
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from emu.errors import CommandError, FileFormatError
from emu.files import read_document
from emu.partial import ANYBODY, partial_file
from emu.sqldump import ImportReport

HEAD: Final = """\
# Brought from an EQ2Emulator database by `emu world import-eq2emu`, which writes it anew as long as
# nobody has changed it. Put what is yours into a file of your own, with extends = true.
# sha256: """


class Fate(enum.Enum):
    """What becomes of a file."""

    WRITTEN = "written"
    SAME = "here already"
    KEPT = "changed by hand"


@dataclass(slots=True)
class Document:
    """One file to be: its name and tables, and how many rows of which table went into it."""

    name: str
    tables: dict[str, Any]
    counts: Counter[str] = field(default_factory=Counter)


def store(
    document: Document, folder: Path, report: ImportReport, *, dry_run: bool, replace: bool
) -> None:
    """Write a document, and count its rows as what became of it; with `dry_run` only count them.

    A file that was changed by hand stays as it is, with a note, unless `replace`. Raises
    `CommandError`.
    """
    path = folder / document.name
    text = text_of(document.tables)
    fate = fate_of(path, text, replace=replace)
    if fate is Fate.KEPT:
        report.note(document.name, f"{path} was changed by hand and stays as it is; see --replace")
        return
    if fate is Fate.WRITTEN and not dry_run:
        write(path, text)
    for table, rows in document.counts.items():
        if fate is Fate.SAME:
            report.tables[table].present += rows
        else:
            report.tables[table].added += rows


def text_of(tables: Mapping[str, Any]) -> str:
    """Return a document as TOML: tables, lists of tables, and plain values inside those."""
    parts = []
    for name, value in tables.items():
        if isinstance(value, list):
            parts += [_table(f"[[{name}]]", row) for row in value]
        else:
            parts.append(_table(f"[{name}]", value))
    body = "\n".join(parts)
    return f"{HEAD}{_digest(body)}\n\n{body}"


def fate_of(path: Path, text: str, *, replace: bool = False) -> Fate:
    """Say what is to become of a file that should hold a text. Raises `CommandError`."""
    try:
        there = path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return Fate.WRITTEN
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror})") from None
    if there == text:
        return Fate.SAME
    return Fate.WRITTEN if replace or _is_untouched(there) else Fate.KEPT


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises `CommandError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_file(path, ANYBODY) as fresh:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror})") from None


def zones_of_others(folder: Path) -> dict[int, Path]:
    """Return the zones that files of a folder describe which no import wrote."""
    found = {}
    for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
        if path.read_bytes().startswith(HEAD.encode()):
            continue
        try:
            zone = read_document(path).get("zone")
        except FileFormatError:
            continue  # whoever reads the folder says so
        if isinstance(zone, dict) and not zone.get("extends"):
            found[zone.get("id", 0)] = path
    return found


def _is_untouched(text: str) -> bool:
    if not text.startswith(HEAD):
        return False
    digest, _, body = text.removeprefix(HEAD).partition("\n\n")
    return digest == _digest(body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()


def _table(title: str, rows: Mapping[str, Any]) -> str:
    lines = [f"{_key(name)} = {_value(value)}\n" for name, value in rows.items()]
    return f"{title}\n{''.join(lines)}"


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "a").isalnum() else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        return repr(value)
    # JSON's strings, numbers and truths are TOML's, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
