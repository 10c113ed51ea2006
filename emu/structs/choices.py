"""Parts around parts: there only sometimes, several times, or of one of two types.

Source: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emu.errors import MalformedStruct
from emu.structs.base import Context, Part, Scopes, Values, bad_value
from emu.structs.scope import Getter, Test

FIRST_TYPE_STATISTICS = (6, 7)
"""Kinds of statistic whose value has the first of two types."""


class Conditional:
    """A part that is there only when its conditions hold."""

    __slots__ = ("_key", "_part", "_test", "_where")

    def __init__(self, where: str, key: str, part: Part, test: Test) -> None:
        self._where, self._key, self._part, self._test = where, key, part, test

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read the part if it is there."""
        if self._test(out, scopes, context.flags):
            return self._part.decode(data, at, out, scopes, context)
        return at

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write the part if it has to be there."""
        if self._test(fields, scopes, context.flags):
            self._part.encode(fields, parts, scopes, context)
        elif context.strict and fields.get(self._key) is not None:
            bad_value(self._where, self._key, "its conditions do not hold, so it is not written")


class TwoTypes:
    """A field that has its second type unless a statistic's kind is 6 or 7 (items only)."""

    __slots__ = ("_first", "_kind", "_second")

    def __init__(self, first: Part, second: Part, kind: Getter) -> None:
        self._first, self._second, self._kind = first, second, kind

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read in the type that the statistic asks for."""
        return self._choose(out, scopes).decode(data, at, out, scopes, context)

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write in the type that the statistic asks for."""
        self._choose(fields, scopes).encode(fields, parts, scopes, context)

    def _choose(self, fields: Mapping[str, Any], scopes: Scopes) -> Part:
        return self._first if self._kind(fields, scopes) in FIRST_TYPE_STATISTICS else self._second


class Repeated:
    """A part several times in a row, its values a list under one name."""

    __slots__ = ("_count", "_key", "_one", "_where", "_zero")

    def __init__(self, where: str, key: str, one: Part, count: int, zero: str | int) -> None:
        self._where, self._key, self._one, self._count, self._zero = where, key, one, count, zero

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read all of them into a list."""
        found: list[Any] = []
        one: Values = {}
        out[self._key] = found
        try:
            for _ in range(self._count):
                at = self._one.decode(data, at, one, scopes, context)
                found.append(one[self._key])
        except MalformedStruct as error:
            error.field = f"{self._key}[{len(found)}]"
            raise
        return at

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Write all of them."""
        values = fields.get(self._key)
        if values is None:
            values = [self._zero] * self._count
        if not isinstance(values, (list, tuple)) or len(values) != self._count:
            bad_value(self._where, self._key, f"must be a list of {self._count}")
        for value in values:
            self._one.encode({self._key: value}, parts, scopes, context)
