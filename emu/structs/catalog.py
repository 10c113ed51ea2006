"""All structs of some files: find a layout by name and client version.

The rule of selection is EQ2Emulator's: the highest ClientVersion not above the one asked for
(docs/protocol/structs.md#struct). Layouts are compiled when they are first asked for and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from emu.errors import FileFormatError, UnknownStruct
from emu.resources import data_file
from emu.structs.definitions import FieldDefinition, StructDefinition
from emu.structs.layout import Layout
from emu.structs.reader import read_file

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
        self._layouts: dict[tuple[str, int, bool], Layout] = {}
        self._chosen: dict[tuple[str, int], Layout] = {}
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

    def layout(self, name: str, version: int, *, create_color: bool = False) -> Layout:
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
            layout = Layout(definition, last_version=last, create_color=create_color)
            self._layouts[key] = layout
        if not create_color and len(self._chosen) < 10_000:
            self._chosen[name, version] = layout
        return layout

    def for_opcode(self, opcode_name: str, version: int) -> Sequence[Layout]:
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
