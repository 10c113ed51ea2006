"""Where names and layouts come from: the opcode tables and the struct catalog, as captures ask.

Owns the choice among structs of one opcode. Must not know captures or messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from emu.errors import MalformedMessage, UnknownStruct
from emu.opcodes import OpcodeTables
from emu.opcodes.names import names_of_message
from emu.structs import Layout, StructCatalog

LOGIN_STRUCTS = {
    "OP_LoginRequestMsg": "LS_LoginRequest",
    "OP_LoginByNumRequestMsg": "LoginByNumRequest",
}
"""The first message of a client: servers read it before they know the version."""
LOGIN_VERSIONS = (1, 1208)
"""The struct versions that servers try on it.

Sources: docs/protocol/login.md#version, docs/protocol/world/entering.md#login-by-num.
"""
MAX_REMEMBERED = 10_000


class StructLookup:
    """Finds the layouts that a message may have.

    `catalog` holds the shipped structs; `files` are struct files of the operator, whose structs
    are tried first. Raises `FileFormatError` for a file that cannot be used.
    """

    __slots__ = ("_catalogs", "_found")

    def __init__(self, catalog: StructCatalog, files: Sequence[Path] = ()) -> None:
        self._catalogs = [catalog]
        if files:
            own = StructCatalog()
            for file in files:
                own.load(file)
            self._catalogs.insert(0, own)
        self._found: dict[tuple[str, str | None, int], list[Layout | _LoginLayout]] = {}

    def layout(self, name: str, version: int) -> Layout:
        """Return the layout of a struct by its name; raises `UnknownStruct`."""
        for catalog in self._catalogs[:-1]:
            with suppress(UnknownStruct):
                return catalog.layout(name, version)
        return self._catalogs[-1].layout(name, version)

    def layouts_for(
        self, opcode_name: str, command_name: str | None, version: int
    ) -> Sequence[Layout | _LoginLayout]:
        """Return the layouts of an opcode, or of a command inside OP_ClientCmdMsg, best first."""
        key = opcode_name, command_name, version
        found = self._found.get(key)
        if found is None:
            found = [
                layout
                for catalog in self._catalogs
                for layout in (
                    *_layouts_of(catalog, command_name or opcode_name, version),
                    *_login_layouts(catalog, opcode_name, version),
                )
            ]
            if len(self._found) < MAX_REMEMBERED:
                self._found[key] = found
        return found


def opcode_ranges(tables: OpcodeTables) -> Iterator[tuple[int, int, Mapping[int, str]]]:
    """Yield (lowest version, highest, names by number) for the dissector, without overlaps."""
    for lowest, highest, table in tables.spans():
        yield lowest, highest, table.names


class _LoginLayout:
    """A layout read as servers read a client's first message: short or long, it is taken.

    It fits when its version field holds the version of the session, as that is how the version
    was found.
    """

    __slots__ = ("_layout", "_version")

    def __init__(self, layout: Layout, version: int) -> None:
        self._layout = layout
        self._version = version

    def decode(self, data: bytes) -> dict[str, Any]:
        """Return the fields; raises `MalformedMessage` when the version stands elsewhere."""
        fields = self._layout.decode_short(data)
        if fields.get("version") != self._version:
            raise MalformedMessage("another version's layout")
        return fields


def _layouts_of(catalog: StructCatalog, opcode_name: str, version: int) -> Iterator[Layout]:
    for name in names_of_message(opcode_name):
        yield from catalog.for_opcode(name, version)


def _login_layouts(
    catalog: StructCatalog, opcode_name: str, version: int
) -> Iterator[Layout | _LoginLayout]:
    name = LOGIN_STRUCTS.get(opcode_name)
    if name is None:
        return
    layouts = []
    for struct_version in LOGIN_VERSIONS:
        try:
            layouts.append(catalog.layout(name, struct_version))
        except UnknownStruct:
            continue
    yield from layouts
    for layout in layouts:
        yield _LoginLayout(layout, version)
