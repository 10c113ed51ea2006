"""Rows of what the built-in world's characters have: friends, titles, hotbars, channels.

Each kind is replaced as a whole when it changes: they are short lists, and what is stored is then
what the player has, whatever was stored before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

from emu.model import Hotkey, Membership, Title
from emu.store.repository import Repository, changes, views


class Belongings(Repository):
    """What characters have, by character id."""

    __slots__ = ()

    @views
    def of(self, char_id: int) -> dict[str, Any]:
        """Return what a character has, by field of `emu.model.WorldCharacter`."""
        relations = self._of("kind, name", "world_relations", char_id, "kind, place")
        titles = self._of("title, is_prefix", "world_titles", char_id, "place")
        hotkeys = self._of(
            "bar, slot, type, icon, icon_type, ability, tier, text",
            "world_hotkeys", char_id, "bar, slot",
        )  # fmt: skip
        channels = self._of("channel, password", "world_memberships", char_id, "place")
        return {
            "relations": tuple((kind, name) for kind, name in relations),
            "titles": tuple(Title(text, bool(is_prefix)) for text, is_prefix in titles),
            "hotkeys": tuple(Hotkey(*row) for row in hotkeys),
            "channels": tuple(Membership(*row) for row in channels),
        }

    @changes
    def save_relations(self, char_id: int, relations: Sequence[tuple[int, str]]) -> None:
        """Replace a character's lists of friends and ignored ones."""
        rows = [(int(kind), place, name) for place, (kind, name) in enumerate(relations)]
        self._replace("world_relations", char_id, rows)

    @changes
    def save_titles(self, char_id: int, titles: Sequence[Title], prefix: str, suffix: str) -> None:
        """Replace a character's titles and those of them that it bears."""
        rows = [(place, one.text, one.is_prefix) for place, one in enumerate(titles)]
        self._replace("world_titles", char_id, rows)
        self._set("world_characters", char_id, prefix=prefix, suffix=suffix)

    @changes
    def save_hotkeys(self, char_id: int, hotkeys: Sequence[Hotkey]) -> None:
        """Replace what stands on a character's hotbars."""
        self._replace("world_hotkeys", char_id, [astuple(key) for key in hotkeys])

    @changes
    def save_channels(self, char_id: int, channels: Sequence[Membership]) -> None:
        """Replace the channels a character is in."""
        rows = [(place, one.channel, one.password) for place, one in enumerate(channels)]
        self._replace("world_memberships", char_id, rows)

    def _of(self, columns: str, table: str, char_id: int, order: str) -> Iterable[Any]:
        sql = f"SELECT {columns} FROM {table} WHERE character_id = ? ORDER BY {order}"  # noqa: S608
        return self._run(sql, (char_id,))

    def _replace(self, table: str, char_id: int, rows: Sequence[tuple[Any, ...]]) -> None:
        """Replace the rows of a character that is still there; one that is gone has none."""
        self._run(f"DELETE FROM {table} WHERE character_id = ?", (char_id,))  # noqa: S608
        known = self._run("SELECT 1 FROM world_characters WHERE id = ?", (char_id,)).fetchone()
        if rows and known is not None:
            marks = ", ".join("?" * (1 + len(rows[0])))
            self._run_many(
                f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608
                [(char_id, *row) for row in rows],
            )
