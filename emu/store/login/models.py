"""Rows of models: path -> number, as imported from EQ2Emulator's table `appearances`."""

from __future__ import annotations

import json
from collections.abc import Collection

from emu.store.repository import Repository, changes, reads


class Models(Repository):
    """Numbers of models."""

    @reads
    def numbers(self, paths: Collection[str]) -> dict[str, int]:
        """Return the numbers of those paths that are known; paths are in lower case."""
        rows = self._run(
            "SELECT path, number FROM models WHERE path IN (SELECT value FROM json_each(?))",
            (json.dumps([*paths]),),
        )
        return {path: number for path, number in rows}  # noqa: C416  # rows, not pairs

    @changes
    def add(self, path: str, number: int) -> bool:
        """Store a model unless its path is known already; True when it is new."""
        added = self._run("INSERT OR IGNORE INTO models VALUES (?, ?)", (path, number))
        return added.rowcount == 1
