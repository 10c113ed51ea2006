"""Layouts: a struct of one client version, compiled once, and the catalog that finds them.

Values are plain: numbers, ``str`` (each character one byte, latin-1), lists for fields with a Size
above 1 and for colors, dicts for equipment items and substructs, a list of dicts for an array.
A field whose conditions do not hold is missing from a decoded dict and may be given or not when
encoding, unless that is strict. A name used twice in one struct gets ``_2`` the second time.

Where EQ2Emulator reads otherwise than it writes, both directions here follow its writing: short
int32 values (docs/protocol/structs.md#oversized), IfFlagSet and IfFlagNotSet (given as `flags`),
and what counts as a variable that is set (docs/protocol/structs.md#conditions). Optional fields are
always there, as they are in EQ2Emulator's practice.

The rule of selection is EQ2Emulator's: the highest ClientVersion not above the one asked for
(docs/protocol/structs.md#struct). Layouts are compiled when they are first asked for and kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from emu.errors import FileFormatError, MalformedStruct, UnknownStruct
from emu.files import data_file
from emu.structs.blocks import Block
from emu.structs.fields import Context
from emu.structs.reader import FieldDefinition, StructDefinition, read_file
from emu.structs.scope import Scope

_NO_FLAGS: frozenset[str] = frozenset()


class StructLayout:
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


FILE_ORDER = ("CommonStructs", "LoginStructs", "WorldStructs", "SpawnStructs", "ItemStructs")
"""Substructs are looked up among what was read before, so the order of files matters."""


class StructCatalog:
    """Structs by name and version."""

    def __init__(self, structs: Iterable[StructDefinition] = ()) -> None:
        self.edition = 0
        """Changes with every change of the catalog: what was made of an earlier one is stale."""
        self.notes: list[str] = []
        """What is odd about the files but does no harm, a line each."""
        self._structs: dict[str, dict[int, StructDefinition]] = {}
        self._layouts: dict[tuple[str, int, bool], StructLayout] = {}
        self._chosen: dict[tuple[str, int], StructLayout] = {}
        for definition in structs:
            self.add(definition)

    def add(self, definition: StructDefinition) -> None:
        """Add one struct; where name and version are taken, the first stays, with a note."""
        versions = self._structs.setdefault(definition.name, {})
        earlier = versions.get(definition.client_version)
        if earlier is not None:
            text = (
                f"struct {definition.name} {definition.client_version} stands already at "
                f"{earlier.file}, line {earlier.line}"
            )
            place = f"{definition.file}, line {definition.line}"
            other = shape(earlier.fields) != shape(definition.fields)
            self.notes.append(f"{place}: {text}" + (" with other fields" if other else ""))
            return
        versions[definition.client_version] = definition
        self._forget_layouts()  # the layout before this one ends earlier now

    def exchange(self, other: StructCatalog) -> None:
        """Hold another catalog's structs instead; whoever has this one gets them from now on."""
        self._structs, self.notes = other._structs, other.notes
        self._forget_layouts()

    def _forget_layouts(self) -> None:
        self.edition += 1
        self._chosen.clear()
        self._layouts.clear()

    def load(self, path: Path, complaints: list[FileFormatError] | None = None) -> int:
        """Read one file into the catalog and return how many structs it held.

        Raises `FileFormatError`; the catalog is then as before. Where a list of `complaints` is
        given, what is wrong with a struct goes there, and only that struct is left out.
        """
        definitions = read_file(path, self._structs, complaints)
        for definition in definitions:
            self.add(definition)
        return len(definitions)

    def __iter__(self) -> Iterator[StructDefinition]:
        """All structs by name, then version."""
        for name in sorted(self._structs):
            for version in sorted(self._structs[name]):
                yield self._structs[name][version]

    def __len__(self) -> int:
        return sum(len(versions) for versions in self._structs.values())

    def names(self) -> Sequence[str]:
        """Return the names of all structs in order."""
        return sorted(self._structs)

    def versions(self, name: str) -> Sequence[int]:
        """Return the versions at which a struct has a layout of its own."""
        return sorted(self._structs.get(name, ()))

    def definition(self, name: str, version: int) -> StructDefinition:
        """Return the struct that a client version has. Raises `UnknownStruct`."""
        versions = self._structs.get(name)
        if versions is None:
            raise UnknownStruct(f"there is no struct {name}")
        found = _chosen(versions, version)
        if found is None:
            raise UnknownStruct(f"{name} begins with version {min(versions)}, not {version}")
        return found

    def layout(self, name: str, version: int, *, create_color: bool = False) -> StructLayout:
        """Return the compiled layout that a client version has. Raises `UnknownStruct`."""
        if not create_color:
            found = self._chosen.get((name, version))
            if found is not None:
                return found
        definition = self.definition(name, version)
        key = (name, definition.client_version, create_color)
        layout = self._layouts.get(key)
        if layout is None:
            later = [start for start in self._structs[name] if start > definition.client_version]
            last = min(later) - 1 if later else None
            layout = StructLayout(definition, last_version=last, create_color=create_color)
            self._layouts[key] = layout
        if not create_color and len(self._chosen) < 10_000:
            self._chosen[name, version] = layout
        return layout

    def for_opcode(self, opcode_name: str, version: int) -> Sequence[StructLayout]:
        """Return the layouts that name an opcode as their message at this version."""
        chosen = (_chosen(versions, version) for versions in self._structs.values())
        return [
            self.layout(one.name, version)
            for one in chosen
            if one is not None and opcode_name == (one.opcode_type or one.opcode_name)
        ]


def _chosen(versions: Mapping[int, StructDefinition], version: int) -> StructDefinition | None:
    low = max((start for start in versions if start <= version), default=None)
    return None if low is None else versions[low]


def shape(fields: Iterable[FieldDefinition]) -> tuple[object, ...]:
    """Return fields without the lines they stand on, to compare layouts."""
    return tuple(
        replace(entry, line=0, fields=()) if not entry.fields
        else (replace(entry, line=0, fields=()), shape(entry.fields))
        for entry in fields
    )  # fmt: skip


def load_folder(folder: Path) -> StructCatalog:
    """Read every struct file of a folder, common structs first."""
    catalog = StructCatalog()
    for path in sorted(folder.glob("*.xml*"), key=_order):
        catalog.load(path)
    return catalog


@cache
def shipped_catalog() -> StructCatalog:
    """Return the structs that come with the package (`data/structs/`), read once."""
    return read_shipped()


def read_shipped() -> StructCatalog:
    """Read the structs that come with the package. Raises `FileFormatError`."""
    return load_folder(data_file("structs"))


def _order(path: Path) -> tuple[int, str]:
    stem = path.name.split(".")[0]
    return (FILE_ORDER.index(stem) if stem in FILE_ORDER else len(FILE_ORDER), path.name)
