"""Numbered migrations: the files of a folder, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FILE_NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.sql")
_COMPATIBLE = re.compile(r"^-- compatible: (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration; `number` is the schema's version after it."""

    number: int
    name: str
    sql: str

    @property
    def compatible(self) -> int:
        """The oldest version of the schema whose programs can go on after this migration.

        0 if the migration only adds, and so changes nothing for them. A line
        ``-- compatible: NUMBER`` in the file states another one.
        """
        found = _COMPATIBLE.search(self.sql)
        return int(found[1]) if found else 0


def read_steps(folder: Path, first: int = 1) -> tuple[Migration, ...]:
    """Read the migrations ``NNNN-name.sql`` of a folder, numbered from `first` without a gap."""
    steps: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        match = _FILE_NAME.fullmatch(path.name)
        expected = first + len(steps)
        # A gap in the numbers would make two programs disagree about what a version contains.
        if match is None or int(match[1]) != expected:
            raise ValueError(f"{path}: expected a name that starts with {expected:04d}-")
        steps.append(Migration(int(match[1]), path.stem, path.read_text(encoding="utf-8")))
    return tuple(steps)
