"""Copies of spells that scripts change and cast: food, drink, and further items of content.

Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from emu.scripts.signatures import Handle, HandleKind, read_fraction, read_signed, read_text
from emu.spells.kinds import SpellKind, SpellLine, SpellTier

MOST_LINES: Final = 50
MOST_VALUES: Final = 64
LONGEST_TEXT: Final = 512
LONGEST_TIME: Final = 10_000_000.0
_TENTH, _HUNDREDTH = 0.1, 0.01


def shown_text(text: str) -> str:
    """Return a script's text, whose characters are bytes, as players read it."""
    data = text[:LONGEST_TEXT].encode("latin-1", "replace")
    return data.decode("utf-8", "replace").replace("\0", " ")


class SpellField(NamedTuple):
    """A field of a spell by its name in EQ2Emulator's tables: how it is read and changed."""

    get: Callable[[SpellKind, SpellTier], Any]
    put: Callable[[SpellKind, SpellTier, Any], tuple[SpellKind, SpellTier]]


def _of_kind(name: str, read: Callable[[Any], Any]) -> SpellField:
    return SpellField(
        lambda kind, _tier: getattr(kind, name),
        lambda kind, tier, value: (replace(kind, **{name: read(value)}), tier),
    )


def _of_tier(name: str, unit: float) -> SpellField:
    def put(kind: SpellKind, tier: SpellTier, value: Any) -> tuple[SpellKind, SpellTier]:
        amount = max(0.0, min(read_fraction(value) * unit, LONGEST_TIME))
        changes: dict[str, Any] = {name: amount}
        return kind, replace(tier, **changes)

    return SpellField(lambda _kind, tier: round(getattr(tier, name) / unit, 3), put)


def _text(value: Any) -> str:
    return shown_text(read_text(value))


def _flag(value: Any) -> bool:
    return value is True or bool(read_signed(value))


def _icon(value: Any) -> int:
    return read_signed(value) & 0xFFFF


FIELDS: Final[dict[str, SpellField]] = {
    "name": _of_kind("name", _text),
    "description": _of_kind("description", _text),
    "success_message": _of_kind("success_message", _text),
    "fade_message": _of_kind("fade_message", _text),
    "effect_message": _of_kind("effect_message", _text),
    "icon": _of_kind("icon", _icon),
    "icon_backdrop": _of_kind("backdrop", _icon),
    "icon_heroic_op": _of_kind("heroic_icon", _icon),
    "spell_visual": _of_kind("visual", _icon),
    "friendly_spell": _of_kind("is_friendly", _flag),
    "group_spell": _of_kind("is_group", _flag),
    "interruptable": _of_kind("is_interruptable", _flag),
    "duration_until_cancel": _of_kind("lasts_until_cancelled", _flag),
    "not_maintained": _of_kind("is_not_maintained", _flag),
    "persist_through_death": _of_kind("lasts_through_death", _flag),
    "incurable": _of_kind("is_incurable", _flag),
    "linked_timer_id": _of_kind("linked_timer", _icon),
    "min_class_skill_req": _of_kind("min_class_skill", _icon),
    "duration1": _of_tier("duration", _TENTH),
    "duration2": _of_tier("longest", _TENTH),
    "call_frequency": _of_tier("period", _TENTH),
    "cast_time": _of_tier("cast_time", _HUNDREDTH),
    "recovery": _of_tier("recovery", _TENTH),
    "recast": _of_tier("recast", 1.0),
    "range": _of_tier("range", 1.0),
    "min_range": _of_tier("min_range", 1.0),
    "radius": _of_tier("radius", 1.0),
    "resistibility": _of_tier("resistibility", 1.0),
    "hit_bonus": _of_tier("hit_bonus", 1.0),
}


@dataclass(slots=True, eq=False)
class CustomSpell:
    """A copy of one tier of a spell."""

    kind: SpellKind
    tier: SpellTier
    handle: Handle = field(init=False)

    def __post_init__(self) -> None:
        self.handle = Handle(HandleKind.SPELL, self, is_lasting=False)

    def set(self, name: str, value: Any) -> bool:
        """Change a field; return False if there is none of the name."""
        found = FIELDS.get(name.casefold())
        if found is None:
            return False
        self.kind, self.tier = found.put(self.kind, self.tier, value)
        return True

    def set_value(self, index: int, value: Any) -> bool:
        """Change an argument of the script by its position; gaps become 0.

        The new value is a text, a fraction or a number, as the argument of the table is. A
        fraction for a whole number is kept, because the content gives such.
        """
        if index >= MOST_VALUES:
            return False
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            value = int(bool(value))
        match self.tier.values[index : index + 1]:
            case (str(),):
                value = read_text(value)
            case (float(),):
                value = read_fraction(value)
            case (int(),) if isinstance(value, str):
                value = read_signed(value)
        values = [*self.tier.values, *[0] * (index + 1 - len(self.tier.values))]
        values[index] = value
        self.tier = replace(self.tier, values=tuple(values))
        return True

    def set_line(self, index: int, name: str, value: Any) -> bool:
        """Change a part of a line of the description."""
        if index >= MOST_LINES:
            return False
        lines = [*self.tier.lines, *[SpellLine("")] * (index + 1 - len(self.tier.lines))]
        match name.casefold():
            case "description":
                lines[index] = lines[index]._replace(text=_text(value))
            case "bullet":
                lines[index] = lines[index]._replace(bullet=read_signed(value) & 0xFF)
            case "percentage":
                lines[index] = lines[index]._replace(percentage=read_signed(value) & 0xFF)
            case _:
                return False
        self.tier = replace(self.tier, lines=tuple(lines))
        return True
