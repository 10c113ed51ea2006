"""Names inside a layout: which field a condition or a count means, and whether it is "set".

EQ2Emulator flattens substructs and arrays into one list of names (``x_field_0``); here they stay
nested, and the flat names are resolved to a path once, when a layout is compiled. Source:
eq2-login.md 8.4, 8.6, 8.7. Both directions use one rule for "set": numbers above zero, text that
is not empty, any component above zero. (The peer counts a signed -5 as set when it writes and not
when it reads; symmetric is what a codec needs.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from emu.structs.base import Scopes
from emu.structs.definitions import Conditions

Path = tuple[str | int, ...]
Getter = Callable[[Mapping[str, Any], Scopes], Any]
Test = Callable[[Mapping[str, Any], Scopes, frozenset[str]], bool]

_INDEXES: Final = re.compile(r"(_%i)+$")


class Scope:
    """The names known so far at one level of a layout, and the level around it."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, Path] = {}
        self.parent = parent

    def add(self, name: str, key: str, size: int) -> None:
        """Make a field known under its name, and each of several values under its number."""
        self.names[name] = (key,)
        if size > 1:
            self.names.update({f"{name}_{i}": (key, i) for i in range(size)})

    def add_inner(self, name: str, key: str, size: int, inner: Scope) -> None:
        """Make a substruct's fields known by their flat names."""
        for flat, path in inner.names.items():
            for i in range(size):
                whole: Path = (key, i, *path) if size > 1 else (key, *path)
                self.names[f"{name}_{flat}_{i}"] = whole
            self.names.setdefault(f"{name}_{flat}", (key, 0, *path) if size > 1 else (key, *path))

    def find(self, name: str) -> Getter | None:
        """Return what reads a variable, None when no such field stands before."""
        name = _INDEXES.sub("", name)
        depth = 0
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return _getter(scope.names[name], depth)
            scope = scope.parent
            depth += 1
        return None


def _getter(path: Path, depth: int) -> Getter:
    if depth == 0 and len(path) == 1:
        key = path[0]
        return lambda here, _scopes: here.get(key)  # type: ignore[arg-type]

    def get(here: Mapping[str, Any], scopes: Scopes) -> Any:
        value: Any = here if depth == 0 else scopes[-depth]
        for step in path:
            if isinstance(step, str):
                value = value.get(step) if isinstance(value, Mapping) else None
            else:
                value = value[step] if isinstance(value, Sequence) and step < len(value) else None
            if value is None:
                return None
        return value

    return get


def is_set(value: Any) -> bool:
    """Tell whether a value counts as set."""
    if value is None:
        return False
    if isinstance(value, (int, float)):
        return value > 0
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, Mapping):
        return any(is_set(item) for item in value.values())
    return any(is_set(item) for item in value)


def compile_conditions(conditions: Conditions, scope: Scope) -> Test | None:
    """Return what tells whether a field is there, None when it always is."""
    tests: list[Test] = []
    if conditions.variable_set:
        tests.append(_any_set(conditions.variable_set, scope))
    if conditions.variable_not_set:
        some = _any_set(conditions.variable_not_set, scope)
        tests.append(lambda here, scopes, flags: not some(here, scopes, flags))
    for name, wanted in (
        (conditions.variable_equals, True),
        (conditions.variable_not_equals, False),
    ):
        if name:
            tests.append(_equals_one(name, scope, wanted))
    if conditions.flag_set:
        tests.append(lambda _here, _scopes, flags: conditions.flag_set in flags)
    if conditions.flag_not_set:
        tests.append(lambda _here, _scopes, flags: conditions.flag_not_set not in flags)
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda here, scopes, flags: all(test(here, scopes, flags) for test in tests)


def _any_set(names: Sequence[str], scope: Scope) -> Test:
    getters = [getter for name in names if (getter := scope.find(name)) is not None]
    return lambda here, scopes, _flags: any(is_set(get(here, scopes)) for get in getters)


def _equals_one(name: str, scope: Scope, wanted: bool) -> Test:
    get = scope.find(name)
    if get is None:
        return lambda _here, _scopes, _flags: not wanted
    return lambda here, scopes, _flags: (get(here, scopes) == 1) is wanted
