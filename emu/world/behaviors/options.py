"""The options of behaviors: how a behavior declares them, and how a zone file's values are read.

A behavior declares its options as an inner attrs class `Options`. Each field says its type, its
default, its limits and what it does:

    class TownCrier:
        @frozen
        class Options:
            news: tuple[str, ...] = option(("Nothing new!",), "The texts to cry, in turn.", most=20)

The behavior's ``__init__(me, options)`` then gets an object of this class. A behavior without
`Options` gets the zone file's table as it is, and nothing in it is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, get_args, get_origin

import attrs

from emu.schema import (
    DecimalNumber,
    Form,
    Rule,
    TableFault,
    TableFaults,
    TableReader,
    field,
    limits_of,
    rule_of,
)

NAME: Final = ("name",)
"""The placeholders of a text in which ``{name}`` is the player's name."""
ZONE: Final = "zone"
"""`Rule.among` of an option that names a zone."""
OPTIONS: Final = TableReader()
"""Reads the tables ``behavior_options``."""

_COORDINATE: Final = DecimalNumber()


def option(
    default: Any,
    about: str,
    *,
    unit: str = "",
    limits: tuple[float, float] | None = None,
    **rule: Any,
) -> Any:
    """Declare one option of a behavior. `rule`: further attributes of `emu.schema.Rule`.

    Without `limits` a text may have 4,000 bytes, and a whole number goes from 0 to 2**32 - 1.
    """
    return field(default, about, unit=unit, limits=limits, **rule)


def _point(value: Any) -> tuple[float, float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise ValueError("must be [x, y, z]")
    x, y, z = map(_COORDINATE, value)
    return x, y, z


POINT: Final = Form(_point, "[x, y, z]")
"""Reads a point in a zone: x, y and z in world units; Y is up."""


class BehaviorOptionRow(NamedTuple):
    """One option as people are shown it; every value is a text."""

    key: str
    type: str
    """``text``, ``whole number``, ``number``, ``true or false``, ``zone``, or a list of these."""
    default: str
    """The default as TOML; "" for an option that may be left out without having a value."""
    about: str
    unit: str
    limits: str


def declared_options(behavior: object) -> type | None:
    """Return the class `Options` of a behavior's class, with its types resolved; None without one.

    Raises `TypeError` if it is no attrs class or has a field that cannot be read. This can run the
    behavior's code; call it inside the guard.
    """
    kind = getattr(behavior, "Options", None)
    if kind is None:
        return None
    if not isinstance(kind, type) or not attrs.has(kind):
        raise TypeError("Options is no attrs class; write @frozen (from attrs) above it")
    # The module of a file in the operator's folder is not in `sys.modules`; its functions know it.
    names = getattr(getattr(behavior, "__init__", None), "__globals__", None)
    module = sys.modules.get(kind.__module__)
    # Annotations may be texts; without this their types would be unknown.
    attrs.resolve_types(kind, names if module is None else vars(module))
    for attribute in attrs.fields(kind):
        OPTIONS.reader(attribute)  # raises for a type that nothing can read
    return kind


def read_options(behavior: object, values: Mapping[str, Any]) -> Any:
    """Return what a behavior's ``__init__`` gets for a zone file's ``behavior_options``.

    Raises `TableFaults` with every fault, and `TypeError` as `declared_options` does. This can run
    the behavior's code; call it inside the guard.
    """
    kind = declared_options(behavior)
    return dict(values) if kind is None else OPTIONS.read_table(kind, values)


def option_faults(behavior: object, values: Mapping[str, Any]) -> Sequence[TableFault]:
    """Return every fault of a zone file's ``behavior_options``; call it inside the guard."""
    try:
        read_options(behavior, values)
    except TableFaults as error:
        return error.faults
    return ()


def option_rows(behavior: object) -> list[BehaviorOptionRow]:
    """Return the declared options of a behavior's class, in order; empty without declarations."""
    kind = declared_options(behavior)
    return [] if kind is None else [_row(attribute) for attribute in attrs.fields(kind)]


def zones_named(behavior: object, options: Any) -> Mapping[str, str]:
    """Return the zones that read options name, by the option's key; without empty names."""
    kind = declared_options(behavior)
    if kind is None:
        return {}
    named = {one.name: getattr(options, one.name) for one in attrs.fields(kind)
             if rule_of(one).among == ZONE}  # fmt: skip
    # An empty name means that the option is not used.
    return {key: str(zone) for key, zone in named.items() if zone not in (None, "")}


def _row(attribute: attrs.Attribute[Any]) -> BehaviorOptionRow:
    rule = rule_of(attribute)
    return BehaviorOptionRow(
        rule.key or attribute.name,
        _type_name(attribute.type, rule),
        _toml(attribute.default),
        rule.about,
        rule.unit,
        "" if rule.form is POINT else limits_of(OPTIONS.reader(attribute)),
    )


_TYPE_NAMES: Final[Mapping[Any, str]] = {
    str: "text", int: "whole number", float: "number", bool: "true or false",
}  # fmt: skip


def _type_name(kind: Any, rule: Rule) -> str:
    # `X | None` is shown as X.
    if get_origin(kind) is UnionType:
        (kind,) = [one for one in get_args(kind) if one is not NoneType]
    is_list = get_origin(kind) in (tuple, frozenset) and not (
        rule.form is POINT and get_args(kind) == (float, float, float)
    )
    if is_list:
        return f"list of {_type_name(get_args(kind)[0], rule)}"
    if rule.among == ZONE:
        return ZONE
    if rule.form is not None:
        return limits_of(rule.form) or "value"
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return "text"
    return _TYPE_NAMES.get(kind, "table")


def _toml(value: Any) -> str:
    """Return a default as TOML."""
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]  # a class, but typed as function
        value = value.factory()
    if value is None or value is attrs.NOTHING:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list, frozenset)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
