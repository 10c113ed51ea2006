"""The sheet of an actor: health, power, attributes, and further numbers that are known by name.

Content sets these for creatures; players have them as well. Fights and spells read them. A field
has a kind, and a value that does not fit is cut to the nearest that does.
Source: docs/guides/lua.md#sheet.
"""

from __future__ import annotations

import enum
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from sys import intern
from typing import Final, NamedTuple

from emu.files import data_file

LARGEST_POOL: Final = 2**31 - 1
"""The most health or power of an actor."""
LONGEST_TEXT: Final = 256
"""Characters of a field that is a text."""
LARGEST_FRACTION: Final = 1e9
USUAL_ATTRIBUTE: Final = 20.0
ATTRIBUTES: Final = ("str", "sta", "agi", "wis", "intel")
"""The fields of the attributes; each has another one with ``_base`` behind its name."""
_FULL: Final = 100


class FieldKind(enum.Enum):
    """What the values of a field are."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    FRACTION = "fraction"
    TEXT = "text"


class SheetField(NamedTuple):
    """A field of sheets: its kind, and its bits if it is a whole number."""

    kind: FieldKind
    bits: int = 0


Value = int | float | str


@cache
def known_fields() -> Mapping[str, SheetField]:
    """Return all fields of sheets by name."""
    table = tomllib.loads(data_file("world", "sheet.toml").read_text(encoding="utf-8"))
    fields = {}
    for title, names in table.items():
        kind = FieldKind(title.rstrip("0123456789"))
        found = SheetField(kind, int(title.removeprefix(kind.value) or 0))
        fields.update(dict.fromkeys(names, found))
    return fields


@dataclass(slots=True)
class Pool:
    """Health or power: what is there now, and the most."""

    current: int
    most: int
    base: int = 0
    """The most without what spells and equipment add; 0 for `most`."""

    @property
    def percent(self) -> int:
        """How much of it is there: 1 to 100, and 0 only if nothing is left."""
        if self.current <= 0:
            return 0
        return max(1, min(_FULL, _FULL * self.current // max(1, self.most)))

    def set_current(self, value: int) -> None:
        """Set what is there; never below nothing and not above the most."""
        self.current = max(0, min(value, self.most))

    def set_most(self, value: int) -> None:
        """Set the most, at least 1; what is there is cut to it."""
        self.most = max(1, min(value, LARGEST_POOL))
        self.current = min(self.current, self.most)

    def fill(self, most: int) -> None:
        """Set the most, and make it full."""
        self.set_most(most)
        self.current = self.most


class Sheet:
    """The numbers of one actor besides those that its ghost has."""

    __slots__ = ("_values", "health", "is_invulnerable", "power", "sees_hidden", "sees_invisible")

    def __init__(self, health: int, power: int) -> None:
        """Begin with full health and power."""
        self.health = Pool(health, health)
        self.power = Pool(power, power)
        self.is_invulnerable = False
        self.sees_hidden = False
        self.sees_invisible = False
        self._values: dict[str, Value] = {}

    def get(self, name: str, kind: FieldKind) -> Value | None:
        """Return the value of a field; None if there is no such field of this kind."""
        field = known_fields().get(name)
        if field is None or field.kind is not kind:
            return None
        empty: Value = "" if kind is FieldKind.TEXT else 0
        return self._values.get(name, _BEGINNINGS.get(name, empty))

    def set(self, name: str, kind: FieldKind, value: Value) -> bool:
        """Set a field; return False if there is no such field of this kind."""
        field = known_fields().get(name)
        if field is None or field.kind is not kind:
            return False
        # Each text of a script is an object of its own, and thousands of sheets have this field.
        self._values[intern(name)] = _fitting(value, field)
        return True

    def attribute(self, name: str) -> int:
        """Return one of `ATTRIBUTES` as a whole number."""
        return int(self.get(name, FieldKind.FRACTION) or 0)


_BEGINNINGS: Final[Mapping[str, Value]] = {
    **dict.fromkeys(ATTRIBUTES, USUAL_ATTRIBUTE),
    **dict.fromkeys((f"{name}_base" for name in ATTRIBUTES), USUAL_ATTRIBUTE),
}
"""Fields whose first value is neither 0 nor empty."""


def _fitting(value: Value, field: SheetField) -> Value:
    if field.kind is FieldKind.TEXT:
        return str(value)[:LONGEST_TEXT]
    number = float(value)
    if field.kind is FieldKind.FRACTION:
        if not math.isfinite(number):
            return 0.0
        return max(-LARGEST_FRACTION, min(LARGEST_FRACTION, number))
    half = 1 << (field.bits - 1)
    low, high = (-half, half - 1) if field.kind is FieldKind.SIGNED else (0, 2 * half - 1)
    return max(low, min(high, int(value)))
