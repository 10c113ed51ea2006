"""`RecordPacker`: writes short records, of which a message has hundreds, at once.

A layout writes field after field. If all numbers of a record have one place each, whatever their
values are, they can be written together: ten times as fast. The places come from the layout.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping
from operator import itemgetter
from typing import Any, Final

from emu.errors import StructValueError

ALL_BITS: Final = (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, -1, 0xFFFF, 0xFF)
"""Numbers with all bits, of fields of all sizes and both kinds."""
_LETTERS: Final = {1: "B", 2: "H", 4: "I", 8: "Q"}


class RecordPacker:
    """The places of the fields of a record, which are the same in all records of a version."""

    __slots__ = ("_pack", "_values")

    def __init__(
        self,
        encode: Callable[[Mapping[str, Any]], bytes],
        numbers: Collection[str],
        texts: Mapping[str, int] | None = None,
    ) -> None:
        """`encode` returns a record with some fields, as the layout writes it.

        `numbers` are fields that the layout may have, `texts` those of fixed size, with the bytes
        that are used of each. Raises `ValueError` if a record without values is not zeros.
        """
        empty = encode({})
        if any(empty):
            raise ValueError("a record without values must be zeros")
        places: list[tuple[int, int, str, str]] = []
        for name in numbers:
            differ = _differing(empty, _filled(name, encode, empty))
            if differ is not None:
                places.append((*differ, _LETTERS[differ[1]], name))
        for name, size in (texts or {}).items():
            differ = _differing(empty, encode({name: "\x7f" * size}))
            if differ is not None:
                places.append((*differ, f"{differ[1]}s", name))
        layout, end = "<", 0
        for at, size, letter, _ in sorted(places):
            layout += f"{at - end}x{letter}"
            end = at + size
        self._pack = struct.Struct(f"{layout}{len(empty) - end}x").pack
        self._values = itemgetter(*(name for *_, name in sorted(places)))

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """Return the bytes of a record; `values` has all its fields, texts as bytes.

        Numbers below 0 have to be given as the unsigned numbers of the same bytes. Raises
        `struct.error` for a number that its field cannot have.
        """
        return self._pack(*self._values(values))


def _filled(name: str, encode: Callable[[Mapping[str, Any]], bytes], empty: bytes) -> bytes:
    """Return a record whose field has all bits, so that its bytes differ from the empty one."""
    for value in ALL_BITS:
        try:
            return encode({name: value})
        except StructValueError:
            continue  # another size
    return empty


def _differing(empty: bytes, filled: bytes) -> tuple[int, int] | None:
    """Return where a record differs from the empty one, and in how many bytes."""
    differ = [at for at, (one, two) in enumerate(zip(empty, filled, strict=True)) if one != two]
    return (differ[0], differ[-1] - differ[0] + 1) if differ else None
