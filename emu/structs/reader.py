"""Struct files: EQ2Emulator's XML vocabulary, read into definitions (docs/protocol/structs.md).

Source: docs/protocol/structs.md. Knows no XML and no bytes.

Source: docs/protocol/structs.md#substructs.

EQ2Emulator's loader hands a field's conditions on to its copy with two gaps, and real clients are
served by exactly that:

* IfVariableNotSet comes along only beside an IfVariableSet on the same field. Item footers rely on
  it unknowingly: their collectable, quest and charge fields are always on the wire.
* IfVariableEquals never comes along.

This is the one place that follows it. Fields inside an array of the copied struct keep everything,
as arrays are copied whole. Struct files of our own do without such conditions; `lints` tells of
those in other files.

Names of elements and attributes are matched in any case, as EQ2Emulator does. A document type
declaration is refused, so no entity is ever expanded. Every complaint names file, line, struct
and field. Knows no bytes of the network.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Final, NoReturn
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import create_parser

from emu.errors import FileFormatError


class FieldType(Enum):
    """The 18 data types; the value is what type names begin with, in lower case."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT = "float"
    DOUBLE = "double"
    COLOR = "eq2_c"
    SINT8 = "sint8"
    SINT16 = "sint16"
    SINT32 = "sint32"
    CHAR = "char"
    STRING8 = "eq2_8"
    STRING16 = "eq2_16"
    STRING32 = "eq2_32"
    EQUIPMENT = "eq2_e"
    ARRAY = "array"
    ITEM = "eq2_i"
    SINT64 = "sint64"


EXACT_NAMES = frozenset({FieldType.FLOAT, FieldType.DOUBLE, FieldType.CHAR})
"""Types whose name must be the whole word; the others are known by how their name begins."""

STRINGS = frozenset({FieldType.STRING8, FieldType.STRING16, FieldType.STRING32})
OVERSIZED = frozenset({FieldType.INT16, FieldType.SINT16, FieldType.INT32})
"""Types that may be written short when their value is small.

Source: docs/protocol/structs.md#oversized.
"""


def field_type(name: str) -> FieldType | None:
    """Return the type that a name spells, in any case, or None."""
    lower = name.lower()
    for kind in FieldType:
        if lower == kind.value or (kind not in EXACT_NAMES and lower.startswith(kind.value)):
            return kind
    return None


@dataclass(frozen=True, slots=True)
class Oversized:
    """A value below `threshold` is written short; others follow a `marker` byte."""

    threshold: int
    marker: int


@dataclass(frozen=True, slots=True)
class Conditions:
    """When a field is there at all; empty means always.

    Sources: docs/protocol/structs.md#data, docs/protocol/structs.md#conditions.
    """

    variable_set: tuple[str, ...] = ()
    variable_not_set: tuple[str, ...] = ()
    variable_equals: str = ""
    variable_not_equals: str = ""
    flag_set: str = ""
    flag_not_set: str = ""

    def __bool__(self) -> bool:
        return self != NO_CONDITIONS


NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """One Data element. For an array, `fields` is one element; for a substruct, its copy."""

    name: str
    type: FieldType | None
    """None for a substruct."""
    line: int
    size: int = 1
    type2: FieldType | None = None
    oversized: Oversized | None = None
    conditions: Conditions = NO_CONDITIONS
    lost_conditions: Conditions = NO_CONDITIONS
    """What this field, as a copy, no longer has of its struct's conditions (`copies`)."""
    count_field: str = ""
    max_count: int | None = None
    default_byte: int = 0
    optional: bool = False
    substruct: str = ""
    fields: tuple[FieldDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """One Struct element: a layout from one client version on."""

    name: str
    client_version: int
    fields: tuple[FieldDefinition, ...]
    opcode_name: str = ""
    opcode_type: str = ""
    file: str = ""
    line: int = 0


def copied(fields: Iterable[FieldDefinition]) -> tuple[FieldDefinition, ...]:
    """Return the fields of a struct as its copies have them, each with what it lost."""
    return tuple(_copied(entry) if entry.conditions else entry for entry in fields)


def _copied(entry: FieldDefinition) -> FieldDefinition:
    before = entry.conditions
    not_set = before.variable_not_set if before.variable_set else ()
    kept = replace(before, variable_not_set=not_set, variable_equals="")
    if kept == before:
        return entry
    lost = Conditions(
        variable_not_set=() if not_set else before.variable_not_set,
        variable_equals=before.variable_equals,
    )
    return replace(entry, conditions=kept or NO_CONDITIONS, lost_conditions=lost)


FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of one file, inflated; the largest of the ecosystem has 1.3 MB."""
STRUCT_LIMIT: Final = 20_000
FIELD_LIMIT: Final = 16_000
"""Fields of one struct, substructs copied in; the largest of the ecosystem has 2,900."""
VALUES_LIMIT: Final = 200_000
"""Values of one struct when every array has one element: fields times their Size."""
TOTAL_LIMIT: Final = 1_000_000
"""Fields of one file, substructs copied in; the largest of the ecosystem has 114,000."""
DEPTH_LIMIT: Final = 16
"""Elements inside elements, and substructs inside substructs."""
SIZE_LIMIT: Final = 65_535
"""Largest Size of a field."""
NAME_LIMIT: Final = 128
"""Characters of a name."""
COMPLAINT_LIMIT: Final = 1_000
"""Most complaints that are collected of one file."""

Library = Mapping[str, Mapping[int, StructDefinition]]


@dataclass(slots=True)
class _Open:
    """An element that is not closed yet: a struct, or an array's block."""

    attributes: dict[str, str]
    line: int
    is_struct: bool
    fields: list[FieldDefinition] = field(default_factory=list)
    wrong: bool = False
    """Whether something in it was complained of."""


def read_file(
    path: Path, known: Library | None = None, complaints: list[FileFormatError] | None = None
) -> list[StructDefinition]:
    """Read one file, ``.gz`` or plain; `known` holds the structs that substructs may name.

    Raises `FileFormatError` when it cannot be read, is too large, or is wrong anywhere. Where a
    list of `complaints` is given, what is wrong with a struct goes there, and the struct is left
    out.
    """
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as stream:
            data = stream.read(FILE_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path}: cannot be read: {error}") from None
    if len(data) > FILE_LIMIT:
        raise FileFormatError(f"{path}: larger than {FILE_LIMIT} bytes")
    return read_text(data, path.name, known, complaints)


def read_text(
    data: bytes,
    file: str,
    known: Library | None = None,
    complaints: list[FileFormatError] | None = None,
) -> list[StructDefinition]:
    """Read the text of one file; see `read_file`."""
    return _Reader(file, known or {}, complaints).read(data)


class _Reader(ContentHandler):
    """State of reading one file."""

    def __init__(self, file: str, known: Library, complaints: list[FileFormatError] | None) -> None:
        super().__init__()
        self.file = file
        self.complaints = complaints
        self.library: dict[str, dict[int, StructDefinition]] = {
            name: dict(versions) for name, versions in known.items()
        }
        self.structs: list[StructDefinition] = []
        self.stack: list[_Open | None] = []
        self.total = 0
        self.parser = create_parser(forbid_dtd=True)
        self.parser.setContentHandler(self)

    def read(self, data: bytes) -> list[StructDefinition]:
        """Return the structs in the order of the file."""
        try:
            self.parser.feed(data)
            self.parser.close()
        except SAXParseException as error:
            self._complain(f"not well-formed XML: {error.getMessage()}", error.getLineNumber())
        except DefusedXmlException:
            self._complain("a document type declaration is not allowed")
        except (LookupError, ValueError) as error:
            self._complain(f"not readable XML: {_cut(str(error))}")
        return self.structs

    def _complain(self, message: str, line: int | None = None) -> NoReturn:
        line = self.parser.getLineNumber() if line is None else line
        where = next((entry for entry in self.stack if entry and entry.is_struct), None)
        inside = f"struct {_cut(where.attributes.get('name', '?'))}: " if where else ""
        raise FileFormatError(inside + message, place=f"{self.file}, line {line}") from None

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        """Begin an element; the parser calls this."""
        try:
            if len(self.stack) >= DEPTH_LIMIT:
                self._complain(f"nested deeper than {DEPTH_LIMIT}")
            self._start(name, dict(attrs.items()))
        except FileFormatError as error:
            self._collect(error)
            self.stack.append(None)

    def endElement(self, name: str) -> None:  # noqa: N802, ARG002
        """End an element; the parser calls this."""
        try:
            self._end()
        except FileFormatError as error:
            self._collect(error)
        self.stack.pop()

    def _collect(self, error: FileFormatError) -> None:
        """Keep a complaint of a struct and go on behind it, or raise where nobody collects."""
        struct = next((entry for entry in self.stack if entry and entry.is_struct), None)
        if self.complaints is None or struct is None or len(self.complaints) >= COMPLAINT_LIMIT:
            raise error
        struct.wrong = True
        self.complaints.append(error)

    def _start(self, tag: str, raw: dict[str, str]) -> None:
        attributes = {name.lower(): value.strip() for name, value in raw.items()}
        kind = tag.lower()
        if kind == "struct":
            self._open_struct(attributes)
        elif kind == "data" and self._inside():
            self.stack.append(_Open(attributes, self._line(), is_struct=False))
        else:
            if not self.stack and kind != "eq2emulator":
                self._complain(f"the root element is {_cut(tag)}, not EQ2Emulator")
            self.stack.append(None)

    def _inside(self) -> bool:
        return any(entry is not None and entry.is_struct for entry in self.stack)

    def _open_struct(self, attributes: dict[str, str]) -> None:
        if self._inside():
            self._complain("a Struct inside a Struct")
        if len(self.structs) >= STRUCT_LIMIT:
            self._complain(f"more than {STRUCT_LIMIT} structs")
        self.stack.append(_Open(attributes, self._line(), is_struct=True))

    def _line(self) -> int:
        return self.parser.getLineNumber() or 0

    def _end(self) -> None:
        entry = self.stack[-1]
        if entry is not None and entry.is_struct:
            self._close_struct(entry)
        elif entry is not None:
            owner = next(outer for outer in reversed(self.stack[:-1]) if outer is not None)
            owner.fields.append(self._field(entry))
            if len(owner.fields) > FIELD_LIMIT:
                self._complain(f"more than {FIELD_LIMIT} fields")

    def _close_struct(self, entry: _Open) -> None:
        attributes = entry.attributes
        name = self._name(attributes.get("name", ""), "a Struct without Name", entry.line)
        version = self._number(attributes, "clientversion", 0xFFFFFFFF, entry.line)
        if version is None:
            self._complain("no ClientVersion", entry.line)
        made = StructDefinition(
            name, version, tuple(entry.fields), attributes.get("opcodename", ""),
            attributes.get("opcodetype", ""), self.file, entry.line,
        )  # fmt: skip
        count, values, _ = _measure(made.fields)
        if count > FIELD_LIMIT or values > VALUES_LIMIT:
            self._complain("too many fields, substructs copied in", entry.line)
        self.total += count
        if self.total > TOTAL_LIMIT:
            self._complain("too many fields in this file, substructs copied in", entry.line)
        if not entry.wrong:
            self.structs.append(made)
        self.library.setdefault(name, {})[version] = made

    def _field(self, entry: _Open) -> FieldDefinition:
        attributes, line = entry.attributes, entry.line
        name = self._name(attributes.get("elementname", ""), "a Data without ElementName", line)
        size = self._number(attributes, "size", SIZE_LIMIT, line)
        if size == 0:
            self._complain(f"field {name}: Size is 0", line)
        base = FieldDefinition(
            name, None, line, size or 1, conditions=_conditions(attributes),
            optional=attributes.get("optional", "").lower() == "true",
        )  # fmt: skip
        if "substruct" in attributes:
            return self._substruct(base, attributes["substruct"])
        kind = field_type(attributes.get("type", ""))
        if kind is None:
            self._complain(f"field {name}: unknown Type {_cut(attributes.get('type', ''))!r}", line)
        if kind is FieldType.ARRAY:
            return self._array(base, entry)
        if entry.fields:
            self._complain(f"field {name}: only an Array holds fields", line)
        return replace(
            base, type=kind, type2=self._second_type(name, attributes, line),
            oversized=self._oversized(kind, attributes, line),
            default_byte=self._number(attributes, "defaultbytevalue", 255, line) or 0,
        )  # fmt: skip

    def _array(self, base: FieldDefinition, entry: _Open) -> FieldDefinition:
        count_field = entry.attributes.get("arraysizevariable", "")
        if not count_field:
            self._complain(f"array {base.name}: no ArraySizeVariable", entry.line)
        most = self._number(entry.attributes, "maxarraysize", 255, entry.line)
        return replace(
            base, type=FieldType.ARRAY, size=1, count_field=count_field, max_count=most or None,
            fields=tuple(entry.fields),
        )  # fmt: skip

    def _second_type(self, name: str, attributes: dict[str, str], line: int) -> FieldType | None:
        text = attributes.get("type2")
        kind = field_type(text) if text else None
        if text and kind is None:
            self._complain(f"field {name}: unknown Type2 {_cut(text)!r}", line)
        return kind

    def _oversized(
        self, kind: FieldType, attributes: dict[str, str], line: int
    ) -> Oversized | None:
        threshold = self._number(attributes, "oversizedvalue", 255, line)
        marker = self._number(attributes, "oversizedbyte", 255, line)
        if not threshold or kind not in OVERSIZED:
            return None
        return Oversized(threshold, 255 if marker is None else marker)

    def _substruct(self, base: FieldDefinition, name: str) -> FieldDefinition:
        """Copy in the struct that the enclosing version selects, as far as the file is read."""
        owner = next(entry for entry in self.stack if entry is not None and entry.is_struct)
        if owner.attributes.get("name", "") == name:
            self._complain(f"field {base.name}: struct {name} holds itself", base.line)
        version = self._number(owner.attributes, "clientversion", 0xFFFFFFFF, owner.line) or 0
        versions = [low for low in self.library.get(name, {}) if low <= version]
        if not versions:
            self._complain(
                f"field {base.name}: no struct {_cut(name)} for version {version} stands before it",
                base.line,
            )
        made = self.library[name][max(versions)]
        count, values, depth = _measure(made.fields)
        if base.size * count > FIELD_LIMIT or base.size * values > VALUES_LIMIT:
            self._complain(f"field {base.name}: too many fields in substruct {name}", base.line)
        if depth >= DEPTH_LIMIT:
            self._complain(f"field {base.name}: substructs deeper than {DEPTH_LIMIT}", base.line)
        return replace(base, substruct=name, fields=copied(made.fields))

    def _name(self, name: str, missing: str, line: int) -> str:
        if not name:
            self._complain(missing, line)
        if len(name) > NAME_LIMIT:
            self._complain(f"a name longer than {NAME_LIMIT} characters", line)
        return name

    def _number(self, attributes: dict[str, str], key: str, most: int, line: int) -> int | None:
        text = attributes.get(key)
        if text is None:
            return None
        if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) > most:
            name = _cut(attributes.get("elementname", attributes.get("name", "?")))
            self._complain(f"{name}: {key} {text[:40]!r} is no number from 0 to {most}", line)
        return int(text)


def _conditions(attributes: dict[str, str]) -> Conditions:
    made = Conditions(
        _names(attributes.get("ifvariableset", "")),
        _names(attributes.get("ifvariablenotset", "")),
        attributes.get("ifvariableequals", ""),
        attributes.get("ifvariablenotequals", ""),
        attributes.get("ifflagset", ""),
        attributes.get("ifflagnotset", ""),
    )
    return made or NO_CONDITIONS


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _measure(fields: tuple[FieldDefinition, ...]) -> tuple[int, int, int]:
    """Return how many fields and values a struct has, substructs copied in, and how deep it is."""
    count, values, depth = len(fields), 0, 0
    for entry in fields:
        if not entry.fields:
            values += entry.size
            continue
        inner_count, inner_values, inner_depth = _measure(entry.fields)
        count += inner_count * entry.size
        values += inner_values * entry.size
        depth = max(depth, inner_depth + 1)
    return count, values, depth


def _cut(text: str) -> str:
    return text if len(text) <= NAME_LIMIT else f"{text[: NAME_LIMIT - 3]}..."
