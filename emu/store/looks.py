"""The tables of characters' looks: numbers and file names by field, and colors by field.

The login server's characters and the world's have a pair each, of the same shape.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from emu.model import Color


class LooksTables:
    """One pair of tables. Text that goes into a statement comes from the repositories alone."""

    __slots__ = ("_connection", "_owner")

    def __init__(self, connection: sqlite3.Connection, owner: str) -> None:
        """`owner` is what the tables are named after: ``character`` or ``world_character``."""
        self._connection = connection
        self._owner = owner

    def put(
        self, owner_id: int, appearance: Mapping[str, int | str], colors: Mapping[str, Color]
    ) -> None:
        """Store the looks of a character that has none yet."""
        self._connection.executemany(
            f"INSERT INTO {self._owner}_appearance VALUES (?, ?, ?)",  # noqa: S608
            [(owner_id, name, value) for name, value in appearance.items()],
        )
        self._connection.executemany(
            f"INSERT INTO {self._owner}_colors VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
            [(owner_id, name, *astuple(color)) for name, color in colors.items()],
        )

    def of(
        self, chosen: str, values: Sequence[Any]
    ) -> tuple[Mapping[int, dict[str, Any]], Mapping[int, dict[str, Color]]]:
        """Return appearance and colors by owner, of those whose `character_id` is `chosen`."""
        appearance: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        colors: defaultdict[int, dict[str, Color]] = defaultdict(dict)
        where = f"WHERE character_id {chosen}"
        for owner, name, value in self._connection.execute(
            f"SELECT character_id, field, value FROM {self._owner}_appearance {where}",  # noqa: S608
            values,
        ):
            appearance[owner][name] = value
        for owner, name, red, green, blue, signed in self._connection.execute(
            "SELECT character_id, field, red, green, blue, signed"  # noqa: S608
            f" FROM {self._owner}_colors {where}",
            values,
        ):
            colors[owner][name] = Color(red, green, blue, bool(signed))
        return appearance, colors
