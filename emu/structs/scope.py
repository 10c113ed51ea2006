"""Names inside a layout: which field a condition or a count means, and whether it is "set".

EQ2Emulator flattens substructs and arrays into lists of names (``x_field_0``); here they stay
nested, and the flat names are resolved to a path once, when a layout is compiled. Source:
docs/protocol/structs.md. As there, a substruct's fields stand among those of its holder, while
an array's elements know only each other: ``field_2`` is the third element's, and what stands
around the array is not found, which counts as not set.

Both directions use one rule for "set": numbers above zero, text that is not empty, any component
above zero. (EQ2Emulator counts a signed -5 as set when it writes and not when it reads; symmetric
is what a codec needs.)
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
_NUMBERED: Final = re.compile(r"(.+)_([0-9]{1,5})")


class Scope:
    """The names known so far at one level of a layout, and the level around it."""

    __slots__ = ("_copies", "_key", "_name", "array", "holder", "names")

    def __init__(self, holder: Scope | None = None, *, array: str = "") -> None:
        self.names: dict[str, Path] = {}
        self.holder = holder
        self.array = array
        """Key of the array whose elements have these names, empty where there is none."""
        self._name = self._key = ""
        self._copies = 0

    def substruct(self, name: str, key: str, copies: int) -> Scope:
        """Return a scope for a substruct's fields; this one learns their flat names from it."""
        inner = Scope(self)
        inner._name, inner._key, inner._copies = name, key, copies
        return inner

    def element(self, key: str) -> Scope:
        """Return a scope for the fields of an array's elements."""
        return Scope(self, array=key)

    def add(self, name: str, key: str, size: int) -> None:
        """Make a field known under its name, and each of several values under its number."""
        self.know(name, (key,))
        if size > 1:
            for i in range(size):
                self.know(f"{name}_{i}", (key, i))

    def know(self, name: str, path: Path) -> None:
        """Make a value known under a name; a substruct's holder learns its flat names."""
        self.names[name] = path
        holder = self.holder
        if holder is None or not self._copies:
            return
        paths = [(self._key, *path)]
        if self._copies > 1:
            paths = [(self._key, i, *path) for i in range(self._copies)]
        if self._copies > 1 or not holder.array:  # in an array the number is the element's
            for i, whole in enumerate(paths):
                holder.know(f"{self._name}_{name}_{i}", whole)
        flat = f"{self._name}_{name}"
        if holder.names.get(flat, paths[0])[0] == self._key:  # else another field is called so
            holder.know(flat, paths[0])

    def find(self, name: str) -> Getter | None:
        """Return what reads a variable, None when no such field stands before."""
        name = _INDEXES.sub("", name)
        depth = 0
        scope: Scope | None = self
        while scope is not None:
            path = scope.names.get(name)
            if path is not None:
                return _getter(path, depth)
            if scope.array:
                path = scope.path_of_element(name)
                return None if path is None else _getter(path, depth + 1)
            scope = scope.holder
            depth += 1
        return None

    def path_of_element(self, name: str) -> Path | None:
        """Return where a field of one certain element of the array is, seen from its holder."""
        match = _NUMBERED.fullmatch(name)
        if match is None or match[1] not in self.names:
            return None
        return (self.array, int(match[2]), *self.names[match[1]])


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
