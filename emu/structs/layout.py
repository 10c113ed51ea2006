"""A struct of one client version, compiled once: bytes to values and back.

Values are plain: numbers, ``str`` (each character one byte, latin-1), lists for fields with a Size
above 1 and for colors, dicts for equipment items and substructs, a list of dicts for an array.
A field whose conditions do not hold is missing from a decoded dict and may be given or not when
encoding, unless that is strict. A name used twice in one struct gets ``_2`` the second time.

Where EQ2Emulator reads otherwise than it writes, both directions here follow its writing: short
int32 values (docs/protocol/structs.md#oversized), IfFlagSet and IfFlagNotSet (given as `flags`),
and what counts as a variable that is set (docs/protocol/structs.md#conditions). Optional fields are
always there, as they are in EQ2Emulator's practice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from emu.errors import MalformedStruct
from emu.structs.base import Context
from emu.structs.blocks import Block
from emu.structs.definitions import StructDefinition
from emu.structs.scope import Scope

_NO_FLAGS: frozenset[str] = frozenset()


class Layout:
    """One struct as one client version has it.

    `definition` is what the file says, `last_version` the last client version that it is for (None
    when no later one follows); `create_color` reads and writes each EQ2_Color as three floats, as
    create requests above version 561 have them (docs/protocol/characters.md#create).
    """

    __slots__ = ("_block", "_title", "definition", "last_version", "name")

    def __init__(
        self,
        definition: StructDefinition,
        *,
        last_version: int | None = None,
        create_color: bool = False,
    ) -> None:
        self.definition = definition
        self.name = definition.name
        self.last_version = last_version
        self._title = f"{definition.name} {definition.client_version}"
        self._block = Block(self._title, definition.fields, Scope(), create_color)

    @property
    def client_version(self) -> int:
        """The first client version that has this layout."""
        return self.definition.client_version

    @property
    def versions(self) -> str:
        """The client versions that have this layout, as text: ``546-561``, ``60100 and later``."""
        if self.last_version is None:
            return f"{self.client_version} and later"
        return f"{self.client_version}-{self.last_version}"

    @property
    def opcode_name(self) -> str:
        """The message that carries this struct, empty when the file names none."""
        return self.definition.opcode_name

    def encode(
        self, fields: Mapping[str, Any], flags: Collection[str] = (), *, strict: bool = False
    ) -> bytes:
        """Return the bytes for these values; what is missing is zero or empty.

        `flags` are the names for which IfFlagSet holds. Raises `StructValueError` for a name the
        struct does not have or a value that does not fit; `strict`, which is what a program wants
        for values of its own, also for a value that would not be written, and for elements whose
        count would not be.
        """
        parts: list[bytes] = []
        context = Context(frozenset(flags) if flags else _NO_FLAGS, strict=strict)
        self._block.encode(fields, parts, (), context)
        return b"".join(parts)

    def decode(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values of a whole message.

        Raises `MalformedStruct` when it is shorter or longer than the layout asks for; that says
        where, and has the values read until there.
        """
        out: dict[str, Any] = {}
        size = len(data)
        end = self._read(data, 0, out, Context(frozenset(flags) if flags else _NO_FLAGS, size))
        if end != size:
            error = MalformedStruct("bytes behind the layout", offset=end)
            error.struct, error.values = self._title, out
            raise error
        return out

    def decode_prefix(
        self, data: bytes, offset: int = 0, flags: Collection[str] = ()
    ) -> tuple[dict[str, Any], int]:
        """Return the values that begin at `offset`, and where they end. Raises as `decode`."""
        out: dict[str, Any] = {}
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data))
        return out, self._read(data, offset, out, context)

    def decode_short(self, data: bytes, flags: Collection[str] = ()) -> dict[str, Any]:
        """Return the values as EQ2Emulator reads them: what is past the end is zero or empty.

        Nothing more is read behind the first value that does not fit (a color is one value), and
        bytes behind the layout are let be. Source: docs/protocol/login.md#version,
        docs/protocol/structs.md#types. Raises `MalformedStruct` only for an array with more
        elements than the message has bytes (docs/protocol/structs.md#arrays).
        """
        out: dict[str, Any] = {}
        context = Context(frozenset(flags) if flags else _NO_FLAGS, len(data), lenient=True)
        self._read(data, 0, out, context)
        return out

    def empty_size(self) -> int:
        """Return the length with every string and array empty and every number zero."""
        return len(self.encode({}))

    def _read(self, data: bytes, offset: int, out: dict[str, Any], context: Context) -> int:
        try:
            return self._block.decode(data, offset, out, (), context)
        except MalformedStruct as error:
            error.struct, error.values = self._title, out
            raise
