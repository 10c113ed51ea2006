"""Names and conditions inside a layout: resolves names to fields, and evaluates conditions.

EQ2Emulator flattens substructs and arrays into lists of names (``x_field_0``). Here they stay
nested, and a flat name is resolved to a path once, when the layout is compiled. As in EQ2Emulator,
a substruct's fields belong to the names of its holder. Inside an array only the elements' own names
are known: ``field_2`` is the third element's. A name from outside the array is unknown and
therefore not set. Source: docs/protocol/structs.md.

Both directions use one rule for "set": a number above zero, a text that is not empty, a value with
any such component. EQ2Emulator counts a signed -5 as set when it writes but not when it reads; a
codec must be symmetric.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final

from emu.structs.definitions import Conditions, NumbersOf
from emu.structs.fields import Scopes

Path = tuple[str | int, ...]
Known = tuple[int, Path]
"""When a name was added (a serial number), and the path to its value."""
Getter = Callable[[Mapping[str, Any], Scopes], Any]
Test = Callable[[Mapping[str, Any], Scopes, frozenset[str]], bool]

_INDEXES: Final = re.compile(r"(_%i)+$")
_NUMBERED: Final = re.compile(r"(.+)_([0-9]{1,5})")


class Scope:
    """The names known so far at one level of a layout, and its enclosing level."""

    __slots__ = ("_copies", "_names", "_substructs", "array", "holder", "key", "moments", "prefix")

    def __init__(self, holder: Scope | None = None, *, array: str = "") -> None:
        self.holder = holder
        self.array = array
        """The key of the array whose elements have these names, "" outside of arrays."""
        self.prefix = self.key = ""
        """For a substruct: the prefix of its fields' flat names, and the key of its values."""
        self.moments: Iterator[int] = holder.moments if holder else count()
        """Serial numbers for the names of one layout, in the order of adding."""
        self._names: dict[str, Known] = {}
        self._substructs: list[Scope] = []
        self._copies = 0

    def substruct(self, name: str, key: str, copies: int) -> Scope:
        """Return a new scope for a substruct's fields; this scope finds them by flat names."""
        inner = Scope(self)
        inner.prefix, inner.key, inner._copies = f"{name}_", key, copies
        self._substructs.append(inner)
        return inner

    def element(self, key: str) -> Scope:
        """Return a new scope for the fields of an array's elements."""
        return Scope(self, array=key)

    def add_field(self, name: str, key: str, size: int) -> None:
        """Add a field's name; with several values also ``name_0``, ``name_1`` and so on."""
        self._names[name] = next(self.moments), (key,)
        if size > 1:
            for i in range(size):
                self._names[f"{name}_{i}"] = next(self.moments), (key, i)

    def find(self, name: str) -> Getter | None:
        """Return a function that reads a variable, None if no such field precedes."""
        # `%i` is the index of the element itself, so the plain name means the same.
        name = _INDEXES.sub("", name)
        depth = 0
        scope: Scope | None = self
        while scope is not None:
            known = scope.known(name)
            if known is not None:
                return _getter(known[1], depth)
            # Names from outside an array are unknown inside it, so the search stops here.
            if scope.array:
                path = scope.path_of_element(name)
                return None if path is None else _getter(path, depth + 1)
            scope = scope.holder
            depth += 1
        return None

    def last_ending(self, ending: str) -> str | None:
        """Return the last added name with an ending, including flat names of substructs."""
        # Moments grow, so the largest pair has the name that was added last.
        return max(self.all_ending(ending, ""), default=(0, None))[1]

    def all_ending(self, ending: str, prefix: str) -> Iterator[tuple[int, str]]:
        """Yield each name with an ending, behind the moment at which it was added."""
        for name, (moment, _) in self._names.items():
            if (prefix + name).endswith(ending):
                yield moment, prefix + name
        for inner in self._substructs:
            yield from inner.all_ending(ending, prefix + inner.prefix)

    def known(self, name: str) -> Known | None:
        """Return the path of a name of this level; of a name added twice, the later one.

        Flat names are split here and not stored: substructs that each copy two others would have
        exponentially many.
        """
        known = self._names.get(name)
        for inner in self._substructs:
            if not name.startswith(inner.prefix):
                continue
            rest = name.removeprefix(inner.prefix)
            plain, numbered = inner.copy(rest, 0), inner.numbered(rest)
            taken = known is not None and known[1][0] != inner.key
            if numbered is None and taken:
                continue  # another field has exactly this name
            for found in (plain, numbered):
                if found is not None and (known is None or found[0] >= known[0]):
                    known = found
        return known

    def numbered(self, name: str) -> Known | None:
        """Return the path of a name that ends with a copy's number, from the holder."""
        match = _NUMBERED.fullmatch(name)
        assert self.holder is not None  # noqa: S101
        # Flat names have numbers without leading zeros, so `_02` belongs to another name.
        if match is None or int(match[2]) >= self._copies or match[2] != str(int(match[2])):
            return None
        # EQ2Emulator leaves out the number of a single copy inside an array: there ``x_FIELD_2``
        # is the third element's field.
        if self._copies == 1 and self.holder.array:
            return None  # inside an array the number means the element
        return self.copy(match[1], int(match[2]))

    def copy(self, name: str, number: int) -> Known | None:
        """Return the path of a name in one copy of the substruct, from the holder."""
        known = self.known(name)
        if known is None:
            return None
        moment, path = known
        return moment, (self.key, number, *path) if self._copies > 1 else (self.key, *path)

    def path_of_element(self, name: str) -> Path | None:
        """Return the path of a field of one numbered element of the array, from its holder."""
        match = _NUMBERED.fullmatch(name)
        known = self.known(match[1]) if match else None
        if match is None or known is None:
            return None
        return (self.array, int(match[2]), *known[1])


def _getter(path: Path, depth: int) -> Getter:
    # Nearly all conditions name a field of the same level, so that case has a short function.
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
    """Return whether a value counts as set."""
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
    """Return a function that decides whether a field is present, None if it always is."""
    # All names are resolved here, once. A name that no field has is no error: EQ2Emulator treats it
    # as a variable that is not set, and shipped struct files rely on that. `lints` reports it.
    if not conditions:  # as of nearly all fields
        return None
    tests = [*_tests_of_variables(conditions, scope), *_tests_of_flags(conditions)]
    if len(tests) == 1:
        return tests[0]
    return lambda here, scopes, flags: all(test(here, scopes, flags) for test in tests)


def _tests_of_variables(conditions: Conditions, scope: Scope) -> Iterator[Test]:
    if conditions.variable_set:
        yield _any_set(conditions.variable_set, scope)
    if conditions.variable_not_set:
        some = _any_set(conditions.variable_not_set, scope)
        yield lambda here, scopes, flags: not some(here, scopes, flags)
    for name, wanted in (
        (conditions.variable_equals, True),
        (conditions.variable_not_equals, False),
    ):
        if name:
            yield _equals_one(name, scope, wanted)
    for numbers, among in ((conditions.variable_in, True), (conditions.variable_not_in, False)):
        if numbers is not None:
            yield _is_one_of(numbers, scope, among)


def _tests_of_flags(conditions: Conditions) -> Iterator[Test]:
    if conditions.flag_set:
        yield lambda _here, _scopes, flags: conditions.flag_set in flags
    if conditions.flag_not_set:
        yield lambda _here, _scopes, flags: conditions.flag_not_set not in flags


def _any_set(names: Sequence[str], scope: Scope) -> Test:
    # A variable that does not exist is not set, so unknown names are left out.
    getters = [getter for name in names if (getter := scope.find(name)) is not None]
    return lambda here, scopes, _flags: any(is_set(get(here, scopes)) for get in getters)


def _is_one_of(wanted: NumbersOf, scope: Scope, among: bool) -> Test:
    get = scope.find(wanted.name)
    # A variable that does not exist has no number.
    if get is None:
        return lambda _here, _scopes, _flags: not among
    # A missing value is written as 0, so it counts as 0 here.
    return lambda here, scopes, _flags: ((get(here, scopes) or 0) in wanted.numbers) is among


def _equals_one(name: str, scope: Scope, wanted: bool) -> Test:
    get = scope.find(name)
    # A variable that does not exist is never 1.
    if get is None:
        return lambda _here, _scopes, _flags: not wanted
    return lambda here, scopes, _flags: (get(here, scopes) == 1) is wanted
