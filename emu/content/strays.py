"""Spawns that a script makes in a zone which does not have their kind: pets, for instance.

A zone's content has the kinds that stand there and those of its own numbers. All others are read
when somebody first asks for them. Source: docs/guides/lua.md#making.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from emu.content.by_need import KindsByNeed
from emu.content.file import ContentFile, Template
from emu.content.rows import Row

MOST_REMEMBERED: Final = 500


class Stray(NamedTuple):
    """One kind of spawn with all that a zone's content has of those that stand there."""

    template: Template
    commands: Mapping[int, Sequence[Row]]
    """Its lists of verbs by number."""
    script: str


class Strays(KindsByNeed[Stray]):
    """The spawns of one content file by number; any thread may call it."""

    def __init__(self, content: Path | None) -> None:
        super().__init__(content, MOST_REMEMBERED)

    def reload(self, content: Path | None) -> None:
        """Read from another file, or from the changed one."""
        with self._lock:
            self._start_over(content)

    def _found(self, numbers: Sequence[int]) -> Mapping[int, Stray]:
        file = self._opened()
        found = {} if file is None else {one: stray(file, one) for one in numbers}
        return {number: one for number, one in found.items() if one is not None}


def stray(file: ContentFile, number: int) -> Stray | None:
    """Return one kind of spawn; None if the file does not have it."""
    template = file.spawn(number)
    if template is None:
        return None
    lists = {template.spawn[name] for name in ("commands", "more_commands")} - {0}
    return Stray(template, file.commands(lists), file.script_of(number))
