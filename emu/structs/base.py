"""What all parts of a layout share: the context of one call, limits, and how to complain.

A part is one piece of a layout with a ``decode`` and an ``encode`` made of the same definition, so
that they cannot drift apart. A part knows its struct's name only for complaints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol

from emu.errors import MalformedStruct, StructValueError

TOO_SHORT: Final = "message shorter than its layout"
COUNT_LIMIT: Final = 65_535
"""Most elements of one array, as EQ2Emulator has it (docs/protocol/structs.md#arrays)."""
ELEMENT_LIMIT: Final = 65_535
"""Most elements of all arrays of one message; nested counts cannot multiply beyond it."""

Values = dict[str, Any]
"""The values of one level of a layout, by their keys."""
Scopes = tuple[Mapping[str, Any], ...]
"""The dicts around the one at hand, outermost first."""


@dataclass(slots=True)
class Context:
    """What one call of decode or encode carries along."""

    flags: frozenset[str]
    limit: int = 0
    """Where the bytes to decode end."""
    lenient: bool = False
    """Whether what is past the end is zero or empty instead of an error."""
    elements: int = 0
    """Array elements begun so far."""

    strict: bool = False
    """Whether values that would not be written are refused."""

    def begin_elements(self, count: int, key: str, at: int) -> None:
        """Count the elements of an array that begins. Raises `MalformedStruct` over the limit."""
        self.elements += count
        if self.elements > ELEMENT_LIMIT:
            raise MalformedStruct("more array elements than any message has", key, at)


class Part(Protocol):
    """One part of a layout."""

    def decode(self, data: bytes, at: int, out: Values, scopes: Scopes, context: Context) -> int:
        """Read from `at` on, put values into `out`, return where the part ends.

        Raises `MalformedStruct`; what could be read stands in `out` then.
        """

    def encode(self, fields: Values, parts: list[bytes], scopes: Scopes, context: Context) -> None:
        """Append the part's bytes."""


def bad_value(where: str, key: str, what: str) -> NoReturn:
    """Raise `StructValueError` that names struct and field; no `key` means the whole of `where`."""
    raise StructValueError(f"{where}.{key}: {what}" if key else f"{where}: {what}")


def shown(value: object) -> str:
    """Return a value for a complaint, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def raw_text(where: str, key: str, value: Any) -> bytes:
    """Return the bytes of a text whose characters each stand for one byte."""
    if not isinstance(value, str):
        bad_value(where, key, f"must be text, not {shown(value)}")
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        bad_value(where, key, "has characters above U+00FF; give the bytes as characters")
