"""Zone files: every key is known, every value is checked, every mistake is named.

A value that does not fit its field would otherwise be found only when somebody comes near.

A mistake is a `FileFormatError` that says file, thing and key, because operators write these files
by hand. Whatever was read can be shown to every client: looks are tried on their structs here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from unicodedata import category

from emu.dialects.dialect import fit, wire_name
from emu.errors import EmuError, FileFormatError
from emu.link.messages import MAX_ZONE_FILE
from emu.structs import StructLayout, shipped_catalog
from emu.world.actors.spawn import Destination, Footer, SpawnKind, Verb
from emu.world.content.definitions import NO_UNDERWORLD, Fixture, Start, ZoneDefinition
from emu.world.visibility.baselines import read_rules
from emu.world_stream.movement import Position

INFO: Final = "Substruct_SpawnInfoStruct"


def check_looks(looks: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return looks that can be sent to every client version. Raises `ValueError`."""
    for name, value in looks.items():
        if complaint := _complaint(name, tuple(value) if isinstance(value, list) else value):
            raise ValueError(f"looks: {complaint}")
    return looks


def check_texts(**texts: str) -> None:
    """Check names and titles, by the fields they are told in. Raises `ValueError`."""
    for name, text in texts.items():
        if any(category(letter) == "Cc" for letter in text):
            raise ValueError(f"{name} has letters that cannot be shown")
        if complaint := _complaint(name, wire_name(text)):
            raise ValueError(complaint)


def check_words(words: Sequence[Any]) -> frozenset[str]:
    """Return words that some client version can be told. Raises `ValueError`."""
    for word in words:
        if word not in _words():
            raise ValueError(f"words: there is no {word!r}; one of {', '.join(sorted(_words()))}")
    return frozenset(words)


@cache
def _words() -> frozenset[str]:
    return read_rules().words


@cache
def _layouts() -> tuple[tuple[StructLayout, Mapping[str, Any]], ...]:
    """Return each layout in which clients are told looks, with its fields' zero values."""
    layouts = [shipped_catalog().layout(INFO, version) for version in read_rules().last_versions]
    return tuple((layout, layout.decode(layout.encode({}))) for layout in layouts)


@lru_cache(maxsize=4096)
def _complaint(name: str, value: Any) -> str:
    """Try one field on every layout; kept, because most of a zone look alike."""
    known = [(layout, zero[name]) for layout, zero in _layouts() if name in zero]
    if not known:
        return f"there is no {name!r}"
    for layout, zero in known:
        try:
            layout.encode({name: fit(zero, value)}, strict=True)
        except (EmuError, IndexError) as error:
            return f"{name} does not fit: {error}"
    return ""


Find = Callable[[str], int]
"""Turns a zone's name, file or number into its number. Raises `ValueError`."""

MOST_FIXTURES: Final = 15_000
"""Things of one zone; the rest of what a zone may hold is for players and what they bring."""
FARTHEST: Final = 100_000.0
LONGEST_TEXT: Final = 4000
LARGEST_SIZE: Final = 0x7FFF
LARGEST_NUMBER: Final = 0xFFFFFFFF
LARGEST_FLOAT: Final = 3.4e38
"""Magnitude that clients have room for."""
LONGEST_VERB: Final = 255
LONGEST_CALLED: Final = 60
"""Letters of a name that a mistake is told with."""
VERB_DISTANCE: Final = 10.0
STATES: Final = ("visual_state", "action_state", "mood_state", "emote_state")
KINDS: Final = {kind.value: kind for kind in SpawnKind if kind is not SpawnKind.PLAYER}
FOOTED: Final = frozenset((SpawnKind.SIGN, SpawnKind.WIDGET))
"""Kinds that carry a footer."""


class TomlTable:
    """One TOML table on its way to a value: keys are taken out, what is left is a mistake."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        if not isinstance(rows, Mapping):
            raise TypeError("must be a table")
        self._rows = dict(rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def text(self, key: str, default: str | None = None, *, longest: int = LONGEST_TEXT) -> str:
        """Take a text; without a default it must be there."""
        value = self._take(key, default)
        if not isinstance(value, str) or len(value.encode()) > longest:
            raise ValueError(f"{key} must be a text of up to {longest} bytes")
        return value

    def number(self, key: str, default: int | None = None, *, low: int = 0, high: int) -> int:
        """Take a whole number."""
        value = self._take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{key} must be a whole number from {low} to {high}")
        return value

    def decimal(self, key: str, default: float) -> float:
        """Take a finite number."""
        return _finite(key, self._take(key, default))

    def flag(self, key: str, *, default: bool) -> bool:
        """Take a truth."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise TypeError(f"{key} must be true or false")
        return value

    def rows(self, key: str) -> list[Any]:
        """Take a list, empty when it is not there."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise TypeError(f"{key} must be a list")
        return value

    def table(self, key: str) -> Mapping[str, Any]:
        """Take a table, empty when it is not there."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise TypeError(f"{key} must be a table")
        return value

    def place(self, key: str, grid: int = 0) -> Position:
        """Take x, y, z and, if it is there, the heading."""
        value = self._take(key, None)
        if not isinstance(value, list) or len(value) not in (3, 4):
            raise ValueError(f"{key} must be [x, y, z] or [x, y, z, heading]")
        x, y, z, heading = (_finite(key, part) for part in (*value, 0.0)[:4])
        if max(abs(x), abs(y), abs(z)) > FARTHEST:
            raise ValueError(f"{key} is outside the world")
        return Position(x, y, z, heading % 360.0, grid)

    def zone(self, key: str, find: Find) -> int:
        """Take a zone by name, file or number. A number need not be that of a known zone."""
        value = self._take(key, None)
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 < value <= LARGEST_NUMBER:
                raise ValueError(f"{key} must be from 1 to {LARGEST_NUMBER}")
            return value
        if not isinstance(value, str):
            raise TypeError(f"{key} must be a zone's name, file or number")
        return find(value)

    def done(self) -> None:
        """Raise `ValueError` when keys are left that nobody knows."""
        if self._rows:
            raise ValueError(f"{', '.join(sorted(self._rows))}: no such key here")

    def _take(self, key: str, default: Any) -> Any:
        value = self._rows.pop(key, default)
        if value is None:
            raise ValueError(f"{key} is missing")
        return value


def read_zone(path: Path, rows: Mapping[str, Any]) -> ZoneDefinition:
    """Return the zone that a file's ``[zone]`` describes. Raises `FileFormatError`."""
    try:
        return _zone(TomlTable(rows))
    except (ValueError, TypeError) as error:
        raise FileFormatError(f"{path}: zone: {error}") from None


def read_fixtures(path: Path, rows: object, find: Find) -> tuple[Fixture, ...]:
    """Return what a file's ``[[spawn]]`` tables put into a zone. Raises `FileFormatError`."""
    if not isinstance(rows, list) or len(rows) > MOST_FIXTURES:
        raise FileFormatError(f"{path}: spawn must be up to {MOST_FIXTURES} [[spawn]] tables")
    return tuple(_each(path, "spawn", rows, lambda table: _fixture(table, find)))


def read_starts(path: Path, rows: object, find: Find) -> tuple[Start, ...]:
    """Return the rows of a file's ``[[start]]`` tables. Raises `FileFormatError`."""
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: start must be [[start]] tables")
    return tuple(_each(path, "start", rows, lambda table: _start(table, find)))


def _each(
    path: Path, what: str, rows: Sequence[Any], read: Callable[[TomlTable], Any]
) -> Iterable[Any]:
    for number, row in enumerate(rows, 1):
        try:
            table = TomlTable(row)
            yield read(table)
            table.done()
        except (ValueError, TypeError) as error:
            name = row.get("name", "") if isinstance(row, dict) else ""
            called = f" ({str(name)[:LONGEST_CALLED]})" if name else ""
            raise FileFormatError(f"{path}: {what} {number}{called}: {error}") from None


def _zone(table: TomlTable) -> ZoneDefinition:
    zone = ZoneDefinition(
        id=table.number("id", low=1, high=0xFFFFFFFF),
        name=table.text("name"),
        file=table.text("file"),
        description=table.text("description"),
        safe=table.place("safe"),
        underworld=table.decimal("underworld", NO_UNDERWORLD),
        population=table.number("population", 0, high=100_000),
        motd=table.text("motd", ""),
        behavior=table.text("behavior", ""),
        behavior_options=table.table("behavior_options"),
    )
    table.done()
    if not zone.name or not zone.file:
        raise ValueError("name and file must not be empty")
    if len(zone.file.encode()) > MAX_ZONE_FILE:
        raise ValueError(f"file must not be longer than {MAX_ZONE_FILE} bytes")
    return zone


def _fixture(table: TomlTable, find: Find) -> Fixture:
    wanted = table.text("kind")
    if wanted not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}")
    kind = KINDS[wanted]
    place = table.place("place", table.number("grid", 0, high=0xFFFFFFFF))
    looks = dict(check_looks(table.table("looks")))
    if "model" in table:
        model = table.number("model", high=0xFFFF)
        looks = {"model_type": model, "soga_model_type": model} | looks
    destination = _destination(TomlTable(table.table("to")), find) if "to" in table else None
    name, last_name = table.text("name"), table.text("last_name", "")
    title = table.text("title", "")
    check_texts(name=name, last_name=last_name, guild=title)
    return Fixture(
        kind=kind,
        name=name,
        place=place,
        last_name=last_name,
        title=title,
        level=table.number("level", 1, low=1, high=255),
        size=table.number("size", 32, low=1, high=LARGEST_SIZE),
        collision_radius=table.number("collision_radius", 32, high=LARGEST_SIZE),
        looks=looks,
        words=check_words(table.rows("words")),
        verbs=_verbs(table, has_way=destination is not None),
        footer=_footer(table, kind, place),
        attackable=table.flag("attackable", default=False),
        targetable=table.flag("targetable", default=True),
        show_name=table.flag("show_name", default=kind is SpawnKind.NPC),
        states={name: table.number(name, high=0xFFFF) for name in STATES if name in table},
        destination=destination,
        behavior=table.text("behavior", ""),
        behavior_options=table.table("behavior_options"),
    )


def _verbs(table: TomlTable, *, has_way: bool) -> tuple[Verb, ...]:
    """Return the verbs that are named; a way that names none can be used."""
    verbs = []
    for row in table.rows("verbs"):
        inner = TomlTable(row)
        name = inner.text("name", longest=LONGEST_VERB)
        distance = inner.decimal("distance", VERB_DISTANCE)
        word = name.lower().replace(" ", "_")
        verbs.append(Verb(name, distance, inner.text("command", word, longest=LONGEST_VERB)))
        inner.done()
    if has_way and not verbs:
        verbs.append(Verb("Use", VERB_DISTANCE, "use"))
    if len(verbs) > 0xFF:
        raise ValueError("verbs: no more than 255")
    return tuple(verbs)


def _destination(table: TomlTable, find: Find) -> Destination:
    zone_id = table.zone("zone", find)
    position = table.place("place") if "place" in table else None
    table.done()
    return Destination(zone_id, position)


def _footer(table: TomlTable, kind: SpawnKind, place: Position) -> Footer | None:
    """Return what signs and widgets say of themselves; the others have none of it."""
    if kind not in FOOTED:
        return None
    widget = TomlTable(table.table("widget"))
    number = widget.number("id", 0, high=0xFFFFFFFF)
    at = widget.place("place") if "place" in widget else place
    widget.done()
    if kind is SpawnKind.WIDGET:
        return Footer(number, at.x, at.y, at.z)
    sign = TomlTable(table.table("sign"))
    footer = Footer(
        number, at.x, at.y, at.z,
        title=sign.text("title", ""),
        description=sign.text("text", ""),
        distance=sign.decimal("distance", VERB_DISTANCE),
        show=sign.flag("show", default=True),
        language=sign.number("language", 0, high=0xFF),
    )  # fmt: skip
    sign.done()
    return footer


def _start(table: TomlTable, find: Find) -> Start:
    zone_id = table.zone("zone", find)
    place = table.place("place") if "place" in table else None
    classes, races, cities, deities = (
        frozenset(_numbers(key, table.rows(key))) for key in ("class", "race", "city", "deity")
    )
    versions = _numbers("versions", table.rows("versions"))
    if len(versions) not in (0, 2):
        raise ValueError("versions must be [first, last]")
    span = (versions[0], versions[1]) if versions else None
    return Start(zone_id, place, classes, races, cities, deities, span)


def _numbers(key: str, values: Sequence[Any]) -> list[int]:
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise ValueError(f"{key} must be a list of whole numbers")
    return list(values)


def _finite(key: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.inf
    if isinstance(value, bool) or not abs(number) <= LARGEST_FLOAT:
        raise ValueError(f"{key} must be a number")
    return number
