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
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from emu.structs.fields import Scopes
from emu.structs.reader import Conditions

Path = tuple[str | int, ...]
Known = tuple[int, Path]
"""The moment at which a name was made known, and the way to its value."""
Getter = Callable[[Mapping[str, Any], Scopes], Any]
Test = Callable[[Mapping[str, Any], Scopes, frozenset[str]], bool]

_INDEXES: Final = re.compile(r"(_%i)+$")
_NUMBERED: Final = re.compile(r"(.+)_([0-9]{1,5})")


class Scope:
    """The names known so far at one level of a layout, and the level around it."""

    __slots__ = ("_copies", "_names", "_substructs", "array", "holder", "key", "moments", "prefix")

    def __init__(self, holder: Scope | None = None, *, array: str = "") -> None:
        self.holder = holder
        self.array = array
        """Key of the array whose elements have these names, empty where there is none."""
        self.prefix = self.key = ""
        """What flat names of a substruct's fields begin with, and where its values are."""
        self.moments: Iterator[int] = holder.moments if holder else count()
        """Numbers for what one layout makes known, in order."""
        self._names: dict[str, Known] = {}
        self._substructs: list[Scope] = []
        self._copies = 0

    def substruct(self, name: str, key: str, copies: int) -> Scope:
        """Return a scope for a substruct's fields; this one knows them by their flat names."""
        inner = Scope(self)
        inner.prefix, inner.key, inner._copies = f"{name}_", key, copies
        self._substructs.append(inner)
        return inner

    def element(self, key: str) -> Scope:
        """Return a scope for the fields of an array's elements."""
        return Scope(self, array=key)

    def add(self, name: str, key: str, size: int) -> None:
        """Make a field known under its name, and each of several values under its number."""
        self._names[name] = next(self.moments), (key,)
        if size > 1:
            for i in range(size):
                self._names[f"{name}_{i}"] = next(self.moments), (key, i)

    def find(self, name: str) -> Getter | None:
        """Return what reads a variable, None when no such field stands before."""
        name = _INDEXES.sub("", name)
        depth = 0
        scope: Scope | None = self
        while scope is not None:
            known = scope.known(name)
            if known is not None:
                return _getter(known[1], depth)
            if scope.array:
                path = scope.path_of_element(name)
                return None if path is None else _getter(path, depth + 1)
            scope = scope.holder
            depth += 1
        return None

    def last_ending(self, ending: str) -> str | None:
        """Return the last name so far with an ending, substructs' flat names included."""
        return max(self.all_ending(ending, ""), default=(0, None))[1]

    def all_ending(self, ending: str, prefix: str) -> Iterator[tuple[int, str]]:
        """Yield every name with an ending, and the moment at which it was made known."""
        for name, (moment, _) in self._names.items():
            if (prefix + name).endswith(ending):
                yield moment, prefix + name
        for inner in self._substructs:
            yield from inner.all_ending(ending, prefix + inner.prefix)

    def known(self, name: str) -> Known | None:
        """Return where a name of this level leads; of one made known twice the later counts.

        Flat names are taken apart when they are asked for: substructs that each hold two others
        have more of them than could be kept.
        """
        known = self._names.get(name)
        for inner in self._substructs:
            if not name.startswith(inner.prefix):
                continue
            rest = name.removeprefix(inner.prefix)
            plain, numbered = inner.copy(rest, 0), inner.numbered(rest)
            taken = known is not None and known[1][0] != inner.key
            if numbered is None and taken:
                continue  # another field is called so
            for found in (plain, numbered):
                if found is not None and (known is None or found[0] >= known[0]):
                    known = found
        return known

    def numbered(self, name: str) -> Known | None:
        """Return where a name with a copy's number behind it leads, seen from the holder."""
        match = _NUMBERED.fullmatch(name)
        assert self.holder is not None  # noqa: S101
        if match is None or int(match[2]) >= self._copies or match[2] != str(int(match[2])):
            return None
        if self._copies == 1 and self.holder.array:
            return None  # in an array the number is the element's
        return self.copy(match[1], int(match[2]))

    def copy(self, name: str, number: int) -> Known | None:
        """Return where a name leads in one copy of the substruct, seen from the holder."""
        known = self.known(name)
        if known is None:
            return None
        moment, path = known
        return moment, (self.key, number, *path) if self._copies > 1 else (self.key, *path)

    def path_of_element(self, name: str) -> Path | None:
        """Return where a field of one certain element of the array is, seen from its holder."""
        match = _NUMBERED.fullmatch(name)
        known = self.known(match[1]) if match else None
        if match is None or known is None:
            return None
        return (self.array, int(match[2]), *known[1])


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
