"""Which fields of a struct are not what they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `after` that `before` does not have or has with another value.

    Both are as `Layout.decode` returns them. Of a struct inside only the changed fields are
    returned, of a list of structs only the changed elements, each under ``name[index]``; other
    lists are one value. Not-a-number is the same as not-a-number.
    """
    changed: dict[str, Any] = {}
    for name, new in after.items():
        old = before.get(name)
        if _same(old, new):
            continue
        if isinstance(new, dict) and isinstance(old, dict):
            changed[name] = changed_fields(old, new)
        elif _holds_structs(new) and isinstance(old, list):
            changed |= changed_elements(name, old, new)
        else:
            changed[name] = new
    return changed


def changed_elements(name: str, before: list[Any], after: list[Any]) -> dict[str, Any]:
    """Return the changed elements of a list of structs, each under ``name[index]``.

    Elements behind the end of `before` are returned whole.
    """
    changed: dict[str, Any] = {}
    for index, new in enumerate(after):
        old = before[index] if index < len(before) else {}
        if fields := changed_fields(old, new):
            changed[f"{name}[{index}]"] = fields
    return changed


def _holds_structs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)  # noqa: PLR0124
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)
