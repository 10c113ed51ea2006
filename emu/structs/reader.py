"""Reads struct files (EQ2Emulator's XML vocabulary) into definitions.

Names of elements and attributes are matched in any case, as in EQ2Emulator. A document type
declaration is refused, so no entity is ever expanded. Every error names file, line, struct and
field. Source: docs/protocol/structs.md, docs/protocol/structs.md#substructs.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NoReturn
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import create_parser

from emu.errors import FileFormatError
from emu.structs.definitions import (
    MOST_VERSION,
    NO_CONDITIONS,
    OVERSIZED,
    SHORT_BYTES,
    Conditions,
    FieldDefinition,
    FieldType,
    NumbersOf,
    Oversized,
    StructDefinition,
    copied,
    field_type,
)

FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of one file after decompression; the largest known file has 1.3 MB."""
STRUCT_LIMIT: Final = 20_000
"""Structs of one file."""
FIELD_LIMIT: Final = 16_000
"""Fields of one struct, including copied substructs; the largest known struct has 2,900."""
VALUES_LIMIT: Final = 200_000
"""Values of one struct if each array has one element: the sum of all Sizes."""
TOTAL_LIMIT: Final = 1_000_000
"""Fields of one file, including copied substructs; the largest known file has 114,000."""
DEPTH_LIMIT: Final = 16
"""Levels of nested elements, and of substructs inside substructs."""
SIZE_LIMIT: Final = 65_535
"""The largest Size of a field."""
NAME_LIMIT: Final = 128
"""Characters of a name."""
LAYOUT_LIMIT: Final = 100
"""Layouts of one struct whose fields have versions of their own."""
COMPLAINT_LIMIT: Final = 1_000
"""Errors that are collected from one file; the next one ends the reading."""

Library = Mapping[str, Mapping[int, StructDefinition]]


@dataclass(slots=True)
class _Open:
    """An open element: a Struct or a Data element."""

    attributes: dict[str, str]
    line: int
    is_struct: bool
    fields: list[FieldDefinition] = field(default_factory=list)
    wrong: bool = False
    """Whether it has an error."""


def read_file(
    path: Path, known: Library | None = None, complaints: list[FileFormatError] | None = None
) -> list[StructDefinition]:
    """Read one file, ``.gz`` or plain; `known` are the structs that substructs may copy.

    Raises `FileFormatError` if the file cannot be read, is too large, or has an error. With a list
    of `complaints`, an error in a struct is appended there instead, and the struct is left out.
    """
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as stream:
            # One byte more than the limit, because the size of a compressed file is unknown
            # before reading.
            data = stream.read(FILE_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path}: cannot be read: {error}") from None
    if len(data) > FILE_LIMIT:
        raise FileFormatError(f"{path}: larger than {FILE_LIMIT} bytes; split the file")
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
    """The state of reading one file."""

    def __init__(self, file: str, known: Library, complaints: list[FileFormatError] | None) -> None:
        super().__init__()
        self.file = file
        self.complaints = complaints
        # A copy, because a file with an error must leave the caller's catalog unchanged.
        self.library: dict[str, dict[int, StructDefinition]] = {
            name: dict(versions) for name, versions in known.items()
        }
        self.structs: list[StructDefinition] = []
        self.followed: set[tuple[str, int]] = set()
        """Layouts that no Struct of the file has itself, but that follow from its substructs."""
        # None stands for an element without a meaning, so that each closing tag removes exactly one
        # entry.
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
            self._complain("a document type declaration is not allowed; remove it")
        # The parser raises these for an encoding that Python does not know.
        except (LookupError, ValueError) as error:
            self._complain(f"not readable XML: {_cut(str(error))}")
        return self.structs

    def _complain(self, message: str, line: int | None = None) -> NoReturn:
        line = self.parser.getLineNumber() if line is None else line
        where = next((entry for entry in self.stack if entry and entry.is_struct), None)
        inside = f"struct {_cut(where.attributes.get('name', '?'))}: " if where else ""
        raise FileFormatError(inside + message, place=f"{self.file}, line {line}") from None

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        """Handle the start of an element (called by the parser)."""
        try:
            if len(self.stack) >= DEPTH_LIMIT:
                self._complain(f"nested deeper than {DEPTH_LIMIT}")
            self._start(name, dict(attrs.items()))
        except FileFormatError as error:
            self._collect(error)
            # The closing tag of the bad element still comes and needs an entry to remove.
            self.stack.append(None)

    def endElement(self, name: str) -> None:  # noqa: N802, ARG002
        """Handle the end of an element (called by the parser)."""
        try:
            self._end()
        except FileFormatError as error:
            self._collect(error)
        # The entry goes even after an error: the stack must match the open elements.
        self.stack.pop()

    def _collect(self, error: FileFormatError) -> None:
        """Collect an error in a struct and read on; raise it if errors are not collected."""
        struct = next((entry for entry in self.stack if entry and entry.is_struct), None)
        # Outside of a struct nothing can be left out, so the whole file is refused.
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
            # Unknown elements are ignored. The root is checked, because another kind of XML file
            # would otherwise load as an empty one.
            if not self.stack and kind != "eq2emulator":
                self._complain(f"the root element is {_cut(tag)}, not EQ2Emulator")
            self.stack.append(None)

    def _inside(self) -> bool:
        return any(entry is not None and entry.is_struct for entry in self.stack)

    def _open_struct(self, attributes: dict[str, str]) -> None:
        if self._inside():
            self._complain("a Struct inside a Struct; copy it with a Substruct attribute")
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
            # A Data inside a Data is a field of an array's elements, so the nearest open element
            # owns it.
            owner = next(outer for outer in reversed(self.stack[:-1]) if outer is not None)
            owner.fields.append(self._field(entry))
            if len(owner.fields) > FIELD_LIMIT:
                self._complain(f"more than {FIELD_LIMIT} fields")

    def _close_struct(self, entry: _Open) -> None:
        attributes = entry.attributes
        name = self._name(attributes.get("name", ""), "the Struct has no Name", entry.line)
        version = self._number(attributes, "clientversion", MOST_VERSION, entry.line)
        if version is None:
            self._complain("the Struct has no ClientVersion", entry.line)
        made = StructDefinition(
            name, version, tuple(entry.fields), attributes.get("opcodename", ""),
            attributes.get("opcodetype", ""), self.file, entry.line,
            self._number(attributes, "lastversion", MOST_VERSION, entry.line) or MOST_VERSION,
        )  # fmt: skip
        if made.last_version < version:
            self._complain("LastVersion is below ClientVersion", entry.line)
        limits = _limits(made.fields)
        follows = attributes.get("followsubstructs", "").lower() == "true"
        if follows:
            limits = sorted({*limits, *self._versions_of_copies(made.fields)})
        if len(limits) > LAYOUT_LIMIT:
            self._complain(f"more than {LAYOUT_LIMIT} versions of one Struct", entry.line)
        layouts = [made]
        if limits:
            # Limits up to the struct's own version make no difference: no client below it has the
            # struct.
            starts = (version, *(limit for limit in limits if limit > version))
            layouts = [
                replace(made, client_version=at, fields=self._fields_at(made.fields, at))
                for at in starts
            ]
        self._end_followed(name, version)
        for one in layouts:
            self._add(one, entry)
        if follows:
            self.followed.update((name, one.client_version) for one in layouts[1:])

    def _versions_of_copies(self, fields: tuple[FieldDefinition, ...]) -> Iterator[int]:
        """Yield the versions of all layouts of the structs that the fields copy."""
        for one in fields:
            if one.substruct:
                yield from self.library[one.substruct]
            else:
                yield from self._versions_of_copies(one.fields)

    def _end_followed(self, name: str, version: int) -> None:
        """Drop the layouts from a version on that an earlier Struct has only by its substructs."""
        ended = {one for one in self.followed if one[0] == name and one[1] >= version}
        if ended:
            self.followed -= ended
            self.structs = [
                one for one in self.structs if (one.name, one.client_version) not in ended
            ]
            for _, at in ended:
                del self.library[name][at]

    def _add(self, made: StructDefinition, entry: _Open) -> None:
        # Copies multiply: a few lines with nested substructs can stand for millions of fields.
        count, values, _ = _measure(made.fields)
        if count > FIELD_LIMIT or values > VALUES_LIMIT:
            self._complain(
                f"more than {FIELD_LIMIT} fields or {VALUES_LIMIT} values with its substructs",
                entry.line,
            )
        self.total += count
        if self.total > TOTAL_LIMIT:
            self._complain(
                f"more than {TOTAL_LIMIT} fields in this file with all substructs; split the file",
                entry.line,
            )
        if not entry.wrong:
            self.structs.append(made)
        # A struct with an error is still added here, so that structs that copy it do not fail as
        # well.
        self.library.setdefault(made.name, {})[made.client_version] = made

    def _fields_at(
        self, fields: tuple[FieldDefinition, ...], version: int
    ) -> tuple[FieldDefinition, ...]:
        """Return the fields that a client version has, with the substructs of that version."""
        found: list[FieldDefinition] = []
        for one in fields:
            if not one.first_version <= version <= one.last_version:
                continue
            inner = one.fields
            if one.substruct:
                # At a later version another layout of the copied struct may apply, so it is
                # selected again.
                known = self.library[one.substruct]
                inner = copied(known[max(low for low in known if low <= version)].fields)
            elif inner:
                inner = self._fields_at(inner, version)
            whole = one.first_version == 0 and one.last_version == MOST_VERSION
            # Most fields are the same in all layouts, which then share them.
            found.append(
                one
                if whole and inner is one.fields
                else replace(one, fields=inner, first_version=0, last_version=MOST_VERSION)
            )
        return tuple(found)

    def _field(self, entry: _Open) -> FieldDefinition:
        attributes, line = entry.attributes, entry.line
        name = self._name(attributes.get("elementname", ""), "a Data has no ElementName", line)
        size = self._number(attributes, "size", SIZE_LIMIT, line)
        if size == 0:
            self._complain(f"field {name}: Size is 0; it must be 1 to {SIZE_LIMIT}", line)
        base = FieldDefinition(
            name, None, line, size or 1, conditions=self._conditions(name, attributes, line),
            optional=attributes.get("optional", "").lower() == "true",
            first_version=self._number(attributes, "firstversion", MOST_VERSION, line) or 0,
            last_version=(
                self._number(attributes, "lastversion", MOST_VERSION, line) or MOST_VERSION
            ),
        )  # fmt: skip
        if base.first_version > base.last_version:
            self._complain(f"field {name}: FirstVersion is above LastVersion", line)
        if "substruct" in attributes:
            return self._substruct(base, attributes["substruct"])
        kind = field_type(attributes.get("type", ""))
        if kind is None:
            self._complain(
                f"field {name}: unknown Type {_cut(attributes.get('type', ''))!r};"
                " docs/protocol/structs.md#types lists them",
                line,
            )
        if kind is FieldType.ARRAY:
            return self._array(base, entry)
        if entry.fields:
            self._complain(f"field {name}: only an Array may contain Data elements", line)
        second = self._second_type(name, attributes, line)
        return replace(
            base, type=kind, type2=second,
            oversized=self._oversized({kind, second}, attributes, line),
            default_byte=self._number(attributes, "defaultbytevalue", 255, line) or 0,
            start=self._number(attributes, "from", SIZE_LIMIT, line) or 0,
        )  # fmt: skip

    def _conditions(self, name: str, attributes: dict[str, str], line: int) -> Conditions:
        numbers: list[NumbersOf | None] = []
        for key in ("ifvariablein", "ifvariablenotin"):
            text = attributes.get(key, "")
            found = _numbers_of(text)
            if text and found is None:
                example = "a field and its numbers, such as kind:1,2"
                self._complain(f"field {name}: {key} {_cut(text)!r} must be {example}", line)
            numbers.append(found)
        made = Conditions(
            _names(attributes.get("ifvariableset", "")),
            _names(attributes.get("ifvariablenotset", "")),
            attributes.get("ifvariableequals", ""),
            attributes.get("ifvariablenotequals", ""),
            attributes.get("ifflagset", ""),
            attributes.get("ifflagnotset", ""),
            *numbers,
        )
        return made or NO_CONDITIONS

    def _array(self, base: FieldDefinition, entry: _Open) -> FieldDefinition:
        count_field = entry.attributes.get("arraysizevariable", "")
        if not count_field:
            self._complain(
                f"array {base.name}: no ArraySizeVariable; name its count field",
                entry.line,
            )
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
        self, kinds: set[FieldType | None], attributes: dict[str, str], line: int
    ) -> Oversized | None:
        threshold = self._number(attributes, "oversizedvalue", 255, line)
        marker = self._number(attributes, "oversizedbyte", 255, line)
        any_type = attributes.get("shortbyte", "").lower() == "true"
        # A threshold of 0 means that there is no short form, as for all other types.
        if not threshold or not kinds & (OVERSIZED | SHORT_BYTES if any_type else OVERSIZED):
            return None
        return Oversized(threshold, 255 if marker is None else marker, any_type)

    def _substruct(self, base: FieldDefinition, name: str) -> FieldDefinition:
        """Return a field with a copy of another struct, the one for the enclosing ClientVersion.

        Only structs that precede in this file or were read before can be copied, as in EQ2Emulator.
        """
        owner = next(entry for entry in self.stack if entry is not None and entry.is_struct)
        if owner.attributes.get("name", "") == name:
            self._complain(f"field {base.name}: struct {name} copies itself", base.line)
        version = self._number(owner.attributes, "clientversion", MOST_VERSION, owner.line) or 0
        # The clients that have the field may begin above the struct's own version.
        version = max(version, base.first_version)
        versions = [low for low in self.library.get(name, {}) if low <= version]
        if not versions:
            self._complain(
                f"field {base.name}: no struct {_cut(name)} for version {version} precedes it;"
                " move it up, or lower its ClientVersion",
                base.line,
            )
        made = self.library[name][max(versions)]
        count, values, depth = _measure(made.fields)
        if base.size * count > FIELD_LIMIT or base.size * values > VALUES_LIMIT:
            self._complain(
                f"field {base.name}: more than {FIELD_LIMIT} fields or {VALUES_LIMIT} values in"
                f" substruct {name}",
                base.line,
            )
        if depth >= DEPTH_LIMIT:
            self._complain(
                f"field {base.name}: substructs nested deeper than {DEPTH_LIMIT}", base.line
            )
        return replace(base, substruct=name, fields=copied(made.fields))

    def _name(self, name: str, missing: str, line: int) -> str:
        if not name:
            self._complain(missing, line)
        if len(name) > NAME_LIMIT:
            self._complain(f"a name has more than {NAME_LIMIT} characters", line)
        return name

    def _number(self, attributes: dict[str, str], key: str, most: int, line: int) -> int | None:
        text = attributes.get(key)
        if text is None:
            return None
        # `isdigit` alone accepts superscripts, which `int` refuses. The length is checked before
        # `int`, because converting thousands of digits is slow.
        if not text.isascii() or not text.isdigit() or len(text) > 12 or int(text) > most:
            name = _cut(attributes.get("elementname", attributes.get("name", "?")))
            self._complain(f"{name}: {key} {text[:40]!r} must be a number from 0 to {most}", line)
        return int(text)


def _limits(fields: tuple[FieldDefinition, ...]) -> list[int]:
    """Return the versions at which a field comes or goes, sorted; none for most structs."""
    found: set[int] = set()
    for one in fields:
        found |= {one.first_version, one.last_version + 1}
        # Copied structs have been resolved for one version already and add no limits.
        if not one.substruct:
            found.update(_limits(one.fields))
    return sorted(limit for limit in found if 0 < limit <= MOST_VERSION)


def _numbers_of(text: str) -> NumbersOf | None:
    """Return the field and the numbers of a text such as ``kind:1,2``; None for any other text."""
    name, colon, rest = text.partition(":")
    numbers = _names(rest)
    if not (name.strip() and colon and numbers) or len(text) > NAME_LIMIT:
        return None
    if not all(one.isascii() and one.isdigit() for one in numbers):
        return None
    return NumbersOf(name.strip(), tuple(int(one) for one in numbers))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def _measure(fields: tuple[FieldDefinition, ...]) -> tuple[int, int, int]:
    """Return the fields, the values and the depth of a struct, including its substructs."""
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
