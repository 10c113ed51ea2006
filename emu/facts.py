"""Declarations of stored facts: what a value is called, its limits, and where it is stored.

A field of a dataclass declares its fact in its annotation::

    coins: Annotated[int, Integer("coins", 0, MOST_COINS)] = 0

The store, its check and repair, the saves of players and the file of unsaved players read these
declarations. A database may have values that no character can have: other programs write them, and
faults of this program did. `ValueChecker` replaces such a value and notes a `Problem`.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, is_dataclass
from functools import cache
from operator import attrgetter
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from emu.times import FOR_EVER, UNKNOWN, Moment

FARTHEST: Final = 32_000.0
"""Largest coordinate that a place may have."""
LONGEST_SHOWN: Final = 60
U8: Final = 0xFF
U16: Final = 0xFFFF
U32: Final = 0xFFFFFFFF
I32: Final = 0x7FFFFFFF
_SURROGATES: Final = re.compile("[\ud800-\udfff]")

Row = TypeVar("Row")
_Place = tuple[float, float, float, float, int]


# -- checks -------------------------------------------------------------------------------------


def is_text(value: object, longest: int) -> bool:
    """Return whether a value is a printable text of at most this length."""
    return type(value) is str and len(value) <= longest and value.isprintable()


def is_number(value: object, most: float) -> bool:
    """Return whether a value is a number with a magnitude up to `most`."""
    return type(value) in (int, float) and abs(value) <= most  # type: ignore[arg-type]  # NaN is not


def is_whole(value: object, least: int, most: int) -> bool:
    """Return whether a value is a whole number within limits."""
    # `type` and not `isinstance`: True is an integer for Python.
    return type(value) is int and least <= value <= most


def has_surrogates(text: str) -> bool:
    """Return whether a text was decoded from bytes that are not UTF-8."""
    return not text.isascii() and _SURROGATES.search(text) is not None


def shown(value: object) -> str:
    """Return a value as a short line for people."""
    # Values of a damaged database may be megabytes long.
    text = repr(value)
    text = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
    return text if text.isprintable() else ascii(text)


class Problem(NamedTuple):
    """An unusable value: its field, the value, and its replacement."""

    field: str
    value: str
    used: str

    def __str__(self) -> str:
        return f"unusable {self.field} ({self.value}); {self.used} is used instead"


class ValueChecker:
    """Checks values, and collects the problems."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def integer(self, field: str, value: Any, least: int, most: int, default: int) -> int:
        """Return a whole number within these limits, else the default."""
        if is_whole(value, least, most):
            return int(value)
        self.note(field, value, default)
        return default

    def moment(self, field: str, value: Any) -> Moment:
        """Return a time; one after the year 9999 becomes its end, anything else is unknown."""
        if type(value) in (int, float) and 0 <= value <= FOR_EVER:
            return Moment(value)
        is_late = type(value) in (int, float) and value > FOR_EVER
        used = FOR_EVER if is_late else UNKNOWN
        self.note(field, value, "the end of the year 9999" if is_late else "no time")
        return used

    def readable(self, field: str, value: Any, longest: int, default: str) -> str:
        """Return a text up to this length whose bytes are UTF-8, else the default."""
        # Surrogates stand for bytes that are not UTF-8.
        if type(value) is str and len(value) <= longest and not has_surrogates(value):
            return value
        self.note(field, value, default or "nothing")
        return default

    def rows(
        self, field: str, rows: Iterable[Row], is_usable: Callable[[Row], bool], most: int
    ) -> tuple[Row, ...]:
        """Return the usable rows of a list, up to `most`."""
        kept: list[Row] = []
        for row in rows:
            if not is_usable(row):
                self.note(field, row, "the rest of the list")
            elif len(kept) >= most:
                # One problem for the whole rest; the list may be long.
                self.note(field, row, f"a list of {most}")
                break
            else:
                kept.append(row)
        return tuple(kept)

    def mapping(
        self, field: str, values: Mapping[str, Row], is_usable: Callable[[Row], bool]
    ) -> Mapping[str, Row]:
        """Return a mapping without its unusable values."""
        wrong = {name: one for name, one in values.items()
                 if has_surrogates(name) or not is_usable(one)}  # fmt: skip
        if not wrong:
            return values
        for name, one in wrong.items():
            self.note(f"{field} {shown(name)}", one, "nothing")
        return {name: one for name, one in values.items() if name not in wrong}

    def note(self, field: str, value: object, used: object) -> None:
        """Add a problem."""
        self.problems.append(Problem(field, shown(value), str(used)))


# -- declarations -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number in a column of the row; `used` replaces an unusable one."""

    label: str
    least: int
    most: int
    used: int = 0

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return is_whole(value, self.least, self.most)

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        # A list of a character has up to a thousand rows, and each login reads them.
        if not values:
            return True
        return (
            set(map(type, values)) == {int}
            and min(values) >= self.least
            and max(values) <= self.most
        )

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> int:
        """Return the value, or what replaces it."""
        if type(value) is int and self.least <= value <= self.most:
            return value
        return check.integer(self.label, value, self.least, self.most, self.used)


@dataclass(frozen=True, slots=True)
class Decimal:
    """A number of a list's row with a magnitude up to `most`; it may have a fraction."""

    label: str
    most: float

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return is_number(value, self.most)

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        return all(map(self.fits, values))


@dataclass(frozen=True, slots=True)
class Rank:
    """A rank in a column of the row: a number below `least` stays a ban, another one is 0."""

    label: str
    least: int
    most: int

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return is_whole(value, self.least, self.most)

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> int:
        """Return the value, or what replaces it."""
        # A number below the lowest rank was written as a ban, and must not become a player's rank.
        if type(value) is int and value < self.least:
            check.note(self.label, value, self.least)
            return self.least
        return check.integer(self.label, value, self.least, self.most, 0)


@dataclass(frozen=True, slots=True)
class Time:
    """A moment in a column of the row; None is usable if it `may_be_missing`."""

    label: str
    may_be_missing: bool = False

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        if value is None:
            return self.may_be_missing
        return is_number(value, FOR_EVER) and value >= 0  # type: ignore[operator]  # a number

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        return all(map(self.fits, values))

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> Moment | None:
        """Return the value, or what replaces it."""
        if value is None and self.may_be_missing:
            return None
        return check.moment(self.label, value)


@dataclass(frozen=True, slots=True)
class Printable:
    """A printable text in a column of the row; ``{id}`` in `used` stands for the row's number."""

    label: str
    longest: int
    """In characters, or in bytes of UTF-8 if it is `in_bytes`."""
    used: str = ""
    least: int = 0
    in_bytes: bool = False

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        if type(value) is not str or not value.isprintable():
            return False
        size = len(value.encode()) if self.in_bytes else len(value)
        return self.least <= size <= self.longest

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        if self.in_bytes or not values:
            return all(map(self.fits, values))
        sizes = [*map(len, values)] if set(map(type, values)) == {str} else [-1]
        return (
            min(sizes) >= self.least
            and max(sizes) <= self.longest
            and "".join(values).isprintable()
        )

    def usable(self, value: Any, check: ValueChecker, row_id: int) -> str:
        """Return the value, or what replaces it."""
        if self.fits(value):
            return str(value)
        used = self.used.format(id=row_id)
        check.note(self.label, value, used or "nothing")
        return used


@dataclass(frozen=True, slots=True)
class AnyText:
    """A text of a list's row that may have line breaks."""

    longest: int

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return type(value) is str and len(value) <= self.longest and not has_surrogates(value)

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        return (
            set(map(type, values)) <= {str}
            and max(map(len, values), default=0) <= self.longest
            and not has_surrogates("".join(values))
        )


@dataclass(frozen=True, slots=True)
class FlagFact:
    """A yes or no in a column of the row; an engine may store it as 1 and 0."""

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return type(value) is bool

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        return all(map(self.fits, values))

    def usable(self, value: Any, _check: ValueChecker, _row_id: int) -> bool:
        """Return the value."""
        return bool(value)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A number of a list's row that is one of a few."""

    values: tuple[int, ...]

    def fits(self, value: object) -> bool:
        """Return whether a value is usable."""
        return value in self.values

    def all_fit(self, values: Sequence[Any]) -> bool:
        """Return whether all of some values are usable."""
        return all(map(self.fits, values))


@dataclass(frozen=True, slots=True)
class PlaceColumns:
    """A place or None, in columns of its own."""

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> _Place | None:
        """Return the place; None if there is none, or if it is unusable."""
        if value is None:
            return None
        x, y, z, heading, grid = value
        # A place with one bad coordinate could be anywhere, so all of it goes.
        if not all(is_number(one, FARTHEST) for one in (x, y, z)):
            check.note("place", (x, y, z), "the safe place of its zone")
            return None
        if not is_number(heading, 1e6):
            check.note("heading", heading, 0)
            heading = 0.0
        return x, y, z, heading, check.integer("grid", grid, 0, U32, 0)


@dataclass(frozen=True, slots=True)
class Values:
    """Values by name, which the row's `appearance` column has."""

    label: str
    fits: Callable[[Any], bool]
    """Returns whether one of them is usable."""

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> Mapping[str, Any]:
        """Return the usable ones."""
        return check.mapping(self.label, value, self.fits)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list in a table of its own, which has ``character_id`` and `columns`.

    The rows of the list are dataclasses that declare their fields, or consist of `parts`. A column
    ``place`` has the position in the list. A list is sorted by its first columns.
    """

    label: str
    most: int
    table: str
    columns: str
    parts: tuple[Part, ...] = ()

    def usable(self, value: Any, check: ValueChecker, _row_id: int) -> tuple[Any, ...]:
        """Return the usable rows."""
        if len(value) <= self.most and self._are_usable(value):
            return tuple(value)
        return check.rows(self.label, value, self._is_usable, self.most)

    def _are_usable(self, rows: Sequence[Any]) -> bool:
        """Return whether all rows are usable, checked by column: most lists are whole."""
        if not rows:
            return True
        first = rows[0]
        if is_dataclass(first) and not isinstance(first, type):
            return all(
                fact.value.all_fit([*map(attrgetter(fact.name), rows)])
                for fact in facts_of(type(first))
            )
        columns = zip(*rows, strict=True) if isinstance(first, tuple) else (rows,)
        return all(part.all_fit(values) for part, values in zip(self.parts, columns, strict=True))

    def _is_usable(self, row: Any) -> bool:
        if is_dataclass(row) and not isinstance(row, type):
            return all(fact.value.fits(getattr(row, fact.name)) for fact in facts_of(type(row)))
        values = row if isinstance(row, tuple) else (row,)
        return all(part.fits(one) for part, one in zip(self.parts, values, strict=True))

    def to_rows(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the values of the columns for each row of a list."""
        at = self._place
        found = []
        for place, value in enumerate(values):
            row = astuple(value) if is_dataclass(value) else value  # type: ignore[arg-type]
            row = row if isinstance(row, tuple) else (row,)
            found.append(row if at is None else (*row[:at], place, *row[at:]))
        return found

    def from_rows(self, rows: Sequence[Sequence[Any]], kind: Any) -> tuple[Any, ...]:
        """Return the list for sorted values of the columns; `kind` is the type of its rows."""
        if not rows:
            return ()
        at = self._place
        if at is not None:
            rows = [[*row[:at], *row[at + 1 :]] for row in rows]
        if get_origin(kind) is tuple:
            return tuple([tuple(row) for row in rows])
        if not is_dataclass(kind):
            return tuple([row[0] for row in rows])
        made: Any = kind
        flags = _flags_of(made)
        if flags:
            rows = [
                [bool(one) if at in flags else one for at, one in enumerate(row)] for row in rows
            ]
        return tuple([made(*row) for row in rows])

    @property
    def _place(self) -> int | None:
        return _place_in(self.columns)


@cache
def _place_in(columns: str) -> int | None:
    names = columns.split(", ")
    return names.index("place") if "place" in names else None


@cache
def _flags_of(kind: Any) -> frozenset[int]:
    """Return which values of a list's row are truths."""
    return frozenset(at for at, one in enumerate(facts_of(kind)) if isinstance(one.value, FlagFact))


Part = Integer | Decimal | Time | Printable | AnyText | FlagFact | OneOf
"""What a value in a list's row may be."""
Column = Integer | Rank | Time | Printable | FlagFact
"""What a value in a column of the row may be."""
_VALUES: Final = (
    Integer,
    Decimal,
    Rank,
    Time,
    Printable,
    AnyText,
    FlagFact,
    OneOf,
    PlaceColumns,
    Values,
    Listed,
)


class Fact(NamedTuple):
    """A declared fact of a row."""

    name: str
    """The field of the dataclass."""
    value: Any
    """One of the declarations of this module."""
    kind: enum.Enum | None
    """What is saved together with it while its character is played; None: it does not change."""
    type: Any
    """The type of the field."""

    @property
    def column(self) -> str | None:
        """Its column of the row; None if it is stored elsewhere."""
        return self.name.rstrip("_") if isinstance(self.value, Column) else None

    @property
    def row_type(self) -> Any:
        """The type of the rows of a list."""
        return get_args(self.type)[0]


def facts_of(kind: type) -> tuple[Fact, ...]:
    """Return the facts that a dataclass declares, in the order of its fields."""
    return _facts_of(kind)


def saved_facts(kind: type) -> Mapping[str, Fact]:
    """Return the facts that change while a character is played, by field."""
    return _saved_facts(kind)


# The parameters are Any, because mypy holds the class of a dataclass for no key of a cache.
@cache
def _facts_of(kind: Any) -> tuple[Fact, ...]:
    found = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        plain, *extras = get_args(hint)
        value = next((one for one in extras if isinstance(one, _VALUES)), None)
        saved = next((one for one in extras if isinstance(one, enum.Enum)), None)
        if value is not None:
            found.append(Fact(name, value, saved, plain))
    return tuple(found)


@cache
def _saved_facts(kind: Any) -> Mapping[str, Fact]:
    return {fact.name: fact for fact in facts_of(kind) if fact.kind is not None}


@dataclass(frozen=True, slots=True)
class PlacementFact:
    """A row of what is stored of a placement in an instance of a zone.

    A subclass declares its table and its facts. The table has the three columns of the key, and a
    column for each declared fact; the primary key is (zone_id, instance, placement_id).
    """

    table: ClassVar[str]
    ends: ClassVar[str] = ""
    """The column with the moment from which the row counts no more; empty without one."""
    zone_id: int
    instance: int
    placement_id: int

    @property
    def key(self) -> tuple[int, int, int]:
        """The primary key."""
        return self.zone_id, self.instance, self.placement_id

    @property
    def is_stored(self) -> bool:
        """Whether it has a row; False: the row of its key is removed."""
        return True


def is_appearance_number(value: object) -> bool:
    """Return whether a value is a number that a field of an appearance may have."""
    if type(value) is float:
        return math.isfinite(value)
    return is_whole(value, -I32 - 1, U32)
