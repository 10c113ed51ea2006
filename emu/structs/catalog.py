"""The catalog of structs: finds the layout of a struct for a client version.

The rule of selection is EQ2Emulator's: the highest ClientVersion that is not above the client's
(docs/protocol/structs.md#struct). A layout is compiled at its first use and then kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from emu.errors import FileFormatError, UnknownStruct
from emu.files import data_file
from emu.structs.definitions import MOST_VERSION, FieldDefinition, StructDefinition
from emu.structs.layout import StructLayout
from emu.structs.reader import read_file

FILE_ORDER = ("CommonStructs", "LoginStructs", "WorldStructs", "SpawnStructs", "ItemStructs")
"""The order in which files are read: a substruct must be read before the structs that copy it."""


class StructCatalog:
    """Structs by name and client version; a later version of a struct replaces an earlier one."""

    def __init__(self, structs: Iterable[StructDefinition] = ()) -> None:
        self.edition = 0
        """A number that grows with every change, so that users can drop what they derived."""
        self.notes: list[str] = []
        """Harmless oddities of the files, one line each."""
        self._structs: dict[str, dict[int, StructDefinition]] = {}
        self._layouts: dict[tuple[str, int, bool], StructLayout] = {}
        self._chosen: dict[tuple[str, int], StructLayout] = {}
        self.made: dict[tuple[str, StructLayout], Any] = {}
        """What users have made of layouts, by its kind: versions with one layout share it."""
        for definition in structs:
            self.add_struct(definition)

    def add_struct(self, definition: StructDefinition) -> None:
        """Add one struct. If name and version are taken, keep the first one and add a note."""
        versions = self._structs.setdefault(definition.name, {})
        earlier = versions.get(definition.client_version)
        if earlier is not None:
            text = (
                f"struct {definition.name} {definition.client_version} is already defined in "
                f"{earlier.file}, line {earlier.line}, so this one is ignored"
            )
            place = f"{definition.file}, line {definition.line}"
            other = shape(earlier.fields) != shape(definition.fields)
            self.notes.append(f"{place}: {text}" + ("; its fields differ" if other else ""))
            return
        versions[definition.client_version] = definition
        self._forget_layouts()  # the version range of the struct's earlier layout ends here now

    def is_like(self, other: StructCatalog) -> bool:
        """Return whether another catalog has the same structs, from the same lines of files."""
        return self._structs == other._structs

    def exchange(self, other: StructCatalog) -> None:
        """Replace all structs by another catalog's, for every user of this catalog."""
        # Both catalogs share the dicts from now on, so the other one must not change any more.
        self._structs, self.notes = other._structs, other.notes
        self._forget_layouts()

    def _forget_layouts(self) -> None:
        self.edition += 1
        self._chosen.clear()
        self._layouts.clear()
        self.made.clear()

    def load(self, path: Path, complaints: list[FileFormatError] | None = None) -> int:
        """Read one file into the catalog; return the number of its structs.

        Raises `FileFormatError` and then leaves the catalog unchanged. With a list of `complaints`,
        errors in a struct are appended there instead, and only that struct is left out.
        """
        definitions = read_file(path, self._structs, complaints)
        for definition in definitions:
            self.add_struct(definition)
        return len(definitions)

    def __iter__(self) -> Iterator[StructDefinition]:
        """Iterate over all structs by name, then by version."""
        for name in sorted(self._structs):
            for version in sorted(self._structs[name]):
                yield self._structs[name][version]

    def __len__(self) -> int:
        return sum(len(versions) for versions in self._structs.values())

    def names(self) -> Sequence[str]:
        """Return the names of all structs, sorted."""
        return sorted(self._structs)

    def versions(self, name: str) -> Sequence[int]:
        """Return the first client version of each layout of a struct, sorted."""
        return sorted(self._structs.get(name, ()))

    def definition(self, name: str, version: int) -> StructDefinition:
        """Return the definition of a struct for a client version. Raises `UnknownStruct`."""
        versions = self._structs.get(name)
        if versions is None:
            raise UnknownStruct(f"there is no struct {name}")
        found = _chosen(versions, version)
        if found is None:
            some = f"its first is {min(versions)}"
            if version > min(versions):
                before = versions[max(start for start in versions if start <= version)]
                some = f"the one before it ends at {before.last_version}"
            raise UnknownStruct(f"struct {name} has no layout for version {version}; {some}")
        return found

    def has(self, name: str, version: int) -> bool:
        """Return whether a struct has a layout for a client version."""
        return _chosen(self._structs.get(name, {}), version) is not None

    def layout(self, name: str, version: int, *, create_color: bool = False) -> StructLayout:
        """Return the compiled layout of a struct for a client version. Raises `UnknownStruct`."""
        # Layouts with float colors are rare and are not in the quick cache.
        if not create_color:
            found = self._chosen.get((name, version))
            if found is not None:
                return found
        definition = self.definition(name, version)
        # Keyed by the version of the layout, so all client versions of one layout share one
        # object.
        key = (name, definition.client_version, create_color)
        layout = self._layouts.get(key)
        if layout is None:
            later = [start for start in self._structs[name] if start > definition.client_version]
            ends = [start - 1 for start in later]
            if definition.last_version != MOST_VERSION:
                ends.append(definition.last_version)
            last = min(ends, default=None)
            layout = StructLayout(definition, last_version=last, create_color=create_color)
            self._layouts[key] = layout
        # The bound is for clients that invent version numbers.
        if not create_color and len(self._chosen) < 10_000:
            self._chosen[name, version] = layout
        return layout

    def for_opcode(self, opcode_name: str, version: int) -> Sequence[StructLayout]:
        """Return the layouts whose message is this opcode at a client version, or none."""
        chosen = (_chosen(versions, version) for versions in self._structs.values())
        return [
            self.layout(one.name, version)
            for one in chosen
            # Every command has the same message OP_ClientCmdMsg, so a command is found by its own
            # name.
            if one is not None and opcode_name == (one.opcode_type or one.opcode_name)
        ]


def _chosen(versions: Mapping[int, StructDefinition], version: int) -> StructDefinition | None:
    low = max((start for start in versions if start <= version), default=None)
    if low is None or version > versions[low].last_version:
        return None
    return versions[low]


def shape(fields: Iterable[FieldDefinition]) -> tuple[object, ...]:
    """Return fields without their line numbers, to compare layouts."""
    return tuple(
        replace(entry, line=0, fields=()) if not entry.fields
        else (replace(entry, line=0, fields=()), shape(entry.fields))
        for entry in fields
    )  # fmt: skip


def load_folder(folder: Path) -> StructCatalog:
    """Read every struct file (``*.xml``, ``*.xml.gz``) of a folder, common structs first.

    Raises `FileFormatError` for the first file that cannot be read.
    """
    catalog = StructCatalog()
    for path in sorted(folder.glob("*.xml*"), key=_order):
        catalog.load(path)
    return catalog


@cache
def shipped_catalog() -> StructCatalog:
    """Return the shipped structs (`data/structs/`), read once per process."""
    return read_shipped()


def read_shipped() -> StructCatalog:
    """Read the shipped structs again. Raises `FileFormatError`."""
    return load_folder(data_file("structs"))


def _order(path: Path) -> tuple[int, str]:
    # `Path.stem` would leave ".xml" of a name that ends with ".xml.gz".
    stem = path.name.split(".")[0]
    return (FILE_ORDER.index(stem) if stem in FILE_ORDER else len(FILE_ORDER), path.name)
