"""Things, hotkeys and standings of new characters of a content file, and things of TOML files.

Source: docs/guides/items.md#beginners, docs/guides/zones.md#knowledge.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.tables import content_tables
from emu.errors import FileFormatError
from emu.model import LAST_BAR

ANY: Final = 255
"""The class or the race of a row that fits all."""
WORN: Final = "equipped"
TABLE: Final = "starting_items"
HOTKEYS: Final = "starting_hotbars"
STANDINGS: Final = "starting_factions"
RESISTANCES: Final = ("heat", "cold", "magic", "mental", "divine", "disease", "poison")
FACTION_KEYS: Final = ("name", "kind", "description")
KINDS: Final = range(1, 5)
PLACES: Final = range(LAST_BAR + 1)
LARGEST: Final = 0xFFFFFFFF


class StartingThing(NamedTuple):
    """One thing of new characters of a class and a race."""

    class_: int
    race: int
    item_id: int
    number: int = 1
    """How many of it."""
    is_worn: bool = False
    is_attuned: bool = False
    condition: int = 100
    creator: str = ""

    def fits(self, line: Collection[int], race: int) -> bool:
        """Return whether new characters of a race get it; `line` are the class and its parents.

        A guardian gets the bow of warriors as well (real-entry-1208-start-fighter-priest).
        """
        return (self.class_ == ANY or self.class_ in line) and self.race in (race, ANY)


class StartingHotkey(NamedTuple):
    """One slot of the hotbars of new characters of a class and a race."""

    class_: int
    race: int
    kind: int
    """1 spell, 2 item, 3 macro, 4 command."""
    bar: int
    slot: int
    spell_id: int
    text: str
    """The command of kind 4; for a spell a note of the database's authors."""


def starting_hotkeys(content: Path | None) -> tuple[StartingHotkey, ...]:
    """Return the hotkeys of new characters in a content file by the numbers of their rows.

    Of two rows for one slot the first one counts: EQ2Emulator gave a guardian spell 30118 of row 4
    and not 10019 of row 64, which all fighters have (real-entry-1208-start-fighter-priest). Raises
    `FileFormatError`.
    """
    if content is None:
        return ()
    with ContentFile(content) as file:
        return tuple(
            StartingHotkey(
                row["class"], row["race"], row["kind"], row["bar"], row["slot"], row["spell_id"],
                row["text"],
            )
            for row in sorted(file.table(HOTKEYS), key=lambda row: row["id"])
            # Hotbars cannot have others.
            if row["kind"] in KINDS and row["bar"] in PLACES and row["slot"] in PLACES
            and 0 <= row["spell_id"] <= LARGEST
        )  # fmt: skip


class StartingFacts(NamedTuple):
    """What a content file says of new characters besides their things and hotkeys."""

    standings: Mapping[int, Mapping[int, int]] = MappingProxyType({})
    """What factions think of one, by the city that it has chosen."""
    resistances: Mapping[int, Mapping[str, int]] = MappingProxyType({})
    """By race."""
    factions: Mapping[int, Mapping[str, Any]] = MappingProxyType({})
    """Name, kind and description of all factions, by number."""


def starting_facts(content: Path | None) -> StartingFacts:
    """Read the facts of new characters. Raises `FileFormatError`."""
    if content is None:
        return StartingFacts()
    standings: dict[int, dict[int, int]] = {}
    with ContentFile(content) as file:
        for row in file.table(STANDINGS):
            standings.setdefault(row["city"], {})[row["faction_id"]] = row["value"]
        # The row of a race for all classes counts, so it comes last.
        races = sorted(file.table("starting_details"), key=lambda row: row["class"] == ANY)
        return StartingFacts(
            standings,
            {row["race"]: {name: row[name] for name in RESISTANCES} for row in races},
            {row["id"]: {key: row[key] for key in FACTION_KEYS} for row in file.table("factions")},
        )


def starting_things(
    content: Path | None, tables: Mapping[Path, Sequence[Any]]
) -> tuple[StartingThing, ...]:
    """Return the things of new characters; those of TOML files follow those of the content file.

    `tables` are the tables ``[[starting_item]]`` of each TOML file. Raises `FileFormatError`.
    """
    found = []
    if content is not None:
        with ContentFile(content) as file:
            found += [_thing(row) for row in file.table(TABLE)]
    for path, rows in tables.items():
        found += _of_file(path, rows)
    return tuple(found)


def _of_file(path: Path, rows: Sequence[Any]) -> list[StartingThing]:
    found: list[StartingThing] = []
    for number, row in enumerate(rows, 1):
        try:
            found += _of_row(dict(row))
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"{path}: starting_item {number}: {error}") from error
    return found


def _of_row(row: dict[str, Any]) -> list[StartingThing]:
    """Return the things of one table of a TOML file; ``classes`` is the first and the last one."""
    columns = {column.name: column for column in content_tables()[TABLE].columns}
    first, last = row.pop("classes", (row.get("class", ANY),) * 2)
    values = {name: column.default for name, column in columns.items()}
    for name, value in row.items():
        if name not in columns:
            raise ValueError(f"{name}: there is no such key")
        stored = columns[name].convert(value)
        if stored is None:
            raise ValueError(f"{name}: {value!r} is no usable value")
        values[name] = stored
    if not values["item_id"] or not 0 <= first <= last <= ANY:
        raise ValueError("needs item_id, and classes from the first to the last one")
    return [_thing({**values, "class": class_}) for class_ in range(first, last + 1)]


def _thing(row: Mapping[str, Any]) -> StartingThing:
    return StartingThing(
        row["class"], row["race"], row["item_id"], max(1, row["count"]), row["kind"] == WORN,
        bool(row["is_attuned"]), min(100, max(0, row["condition"])), row["creator"],
    )  # fmt: skip
