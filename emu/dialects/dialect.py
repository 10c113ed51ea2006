"""How one client version speaks: its opcode numbers, its struct layouts and its rules.

Structs carry bytes as latin-1 text; people read UTF-8. The functions at the end convert names.

A `Dialect` is a snapshot: a client keeps the one it was given at login even when an operator edits
the opcode tables meanwhile. Before login every client speaks version 0
(docs/protocol/login.md#version). `Dialects` makes them on demand and forgets them when the tables
are replaced. Which structs a service cannot do without is that service's to say.

A struct's string field comes as `str` with one character for each byte, so that any byte round
trips. Names that are shown or stored go through `read_name`, and through `wire_name` on their way
out; passwords stay bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, Final

from emu.dialects.rules import RuleTable, VersionRules
from emu.errors import StructValueError, UnknownStruct, UnknownVersion
from emu.opcodes import OpcodeTable, OpcodeTables
from emu.structs import FieldDefinition, FieldType, StructCatalog, StructLayout
from emu.structs.layout import keyed_fields
from emu.structs.packed import EXAMINE_INFO, write_client_cmd
from emu.texts import read_text

BEFORE_LOGIN = 0
"""The version every client speaks until its login request has told another."""

FIRST_LAYOUT = 1
"""Structs begin at version 1, opcode ranges at 0."""

COLORS_AS_FLOATS = frozenset(("CreateCharacter", "CreateCharacterBare"))
"""Structs whose colors are three floats on the wire, whatever their type says.

Source: docs/protocol/characters.md#create.
"""
MOST_DIALECTS = 256


class Dialect:
    """Opcode numbers, layouts and rules of one client version."""

    __slots__ = (
        "_array_names", "_catalog", "_layouts", "_signed", "_templates", "made", "rules", "table",
        "version",
    )  # fmt: skip

    def __init__(
        self, version: int, table: OpcodeTable, catalog: StructCatalog, rules: VersionRules
    ) -> None:
        self.version = version
        self.table = table
        self.rules = rules
        self._catalog = catalog
        self._layouts: dict[str, StructLayout] = {}
        self._templates: dict[str, dict[str, Any]] = {}
        self._array_names: dict[str, Mapping[str, ArrayNames]] = {}
        self._signed: dict[tuple[str, str], bool] = {}
        self.made: dict[Hashable, bytes] = {}
        """Payloads that are the same for every client of this version, by whoever made them."""

    def layout(self, name: str) -> StructLayout:
        """Return the layout of a struct for this version; raises `UnknownStruct`."""
        found = self._layouts.get(name)
        if found is None:
            version = max(self.version, FIRST_LAYOUT)
            floats = name in COLORS_AS_FLOATS
            found = self._catalog.layout(name, version, create_color=floats)
            self._layouts[name] = found
        return found

    def template(self, name: str) -> Mapping[str, Any]:
        """Return a struct's unconditional fields with their zero values."""
        found = self._templates.get(name)
        if found is None:
            layout = self.layout(name)
            found = self._templates[name] = layout.decode(layout.encode({}))
        return found

    def element(self, name: str, count: str, array: str) -> Mapping[str, Any]:
        """Return the unconditional fields of an array's elements with their zero values."""
        key = f"{name}.{array}"
        found = self._templates.get(key)
        if found is None:
            layout = self.layout(name)
            one = layout.decode(layout.encode({count: 1, array: [{}]}))
            found = self._templates[key] = one[array][0]
        return found

    def encode_known(self, name: str, values: Mapping[str, Any]) -> bytes:
        """Encode a struct from values of which this version may know only some.

        Fields that the version's layout lacks are left out, in the elements of an array as well;
        lists are cut or filled with zeros to the length of the field, and a list given for a single
        value becomes its first element.
        """
        template = self.template(name)
        arrays = self._arrays(name)
        fitted = {
            field: arrays[field].known(value) if field in arrays else fit(template[field], value)
            for field, value in values.items()
            if field in template
        }
        return self.layout(name).encode(fitted, strict=True)

    def _arrays(self, name: str) -> Mapping[str, ArrayNames]:
        found = self._array_names.get(name)
        if found is None:
            fields = self.layout(name).definition.fields
            found = self._array_names[name] = arrays_of(fields)
        return found

    def message(self, struct: str, values: Mapping[str, Any]) -> tuple[int, bytes]:
        """Return opcode number and payload of the message that a struct is.

        Values this version does not know are left out. A struct that names a command inside
        OP_ClientCmdMsg is wrapped as one. Raises `UnknownStruct`, `UnknownOpcode` and
        `StructValueError`.
        """
        return self.wrap(struct, self.encode_known(struct, values))

    def wrap(self, struct: str, payload: bytes) -> tuple[int, bytes]:
        """Return opcode number and payload of a message whose struct is encoded already."""
        definition = self.layout(struct).definition
        number = self.table.number(definition.opcode_name)
        if not definition.opcode_type:
            return number, payload
        command = self.table.number(definition.opcode_type)
        examine = command if definition.opcode_type == EXAMINE_INFO else None
        body = write_client_cmd(command, payload, self.version, examine_info=examine)
        return number, body

    def holds_signed(self, struct: str, field: str) -> bool:
        """Say whether a field of three components takes negative numbers."""
        found = self._signed.get((struct, field))
        if found is None:
            try:
                self.layout(struct).encode({field: [-1, -1, -1]})
            except StructValueError:
                found = False
            else:
                found = True
            self._signed[struct, field] = found
        return found


class ArrayNames:
    """The names that the elements of an array have."""

    __slots__ = ("_inner", "_names")

    def __init__(self, fields: Collection[FieldDefinition]) -> None:
        self._names = frozenset(keyed_fields(fields))
        self._inner = arrays_of(fields)

    def known(self, elements: Collection[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return elements with only those of their values that the layout has."""
        return [
            {
                name: self._inner[name].known(value) if name in self._inner else value
                for name, value in element.items()
                if name in self._names
            }
            for element in elements
        ]


def arrays_of(fields: Collection[FieldDefinition]) -> dict[str, ArrayNames]:
    """Return the arrays among fields, by their key."""
    return {
        key: ArrayNames(entry.fields)
        for key, entry in keyed_fields(fields).items()
        if entry.type is FieldType.ARRAY
    }


def fit(zero: Any, value: Any) -> Any:
    """Return `value` in the shape of a field whose zero value is `zero`."""
    if isinstance(zero, list):
        if not isinstance(value, list | tuple):
            return [value, *zero[1:]]
        return [*value[: len(zero)], *zero[len(value) :]]
    if isinstance(value, list | tuple):
        return value[0]
    return value


class Dialects:
    """The dialects of every version that is spoken, made on demand."""

    def __init__(
        self,
        opcodes: Callable[[], OpcodeTables],
        catalog: StructCatalog,
        rules: RuleTable,
        needed: Collection[str] = (),
    ) -> None:
        """Join tables and layouts; a version that lacks one of the `needed` structs is unknown."""
        self.catalog = catalog
        self._needed = needed
        self._opcodes = opcodes
        self._rules = rules
        self._tables: OpcodeTables | None = None
        self._edition = catalog.edition
        self._made: dict[int, Dialect] = {}

    def for_version(self, version: int) -> Dialect:
        """Return a version's dialect.

        Raises `UnknownVersion` when no opcode range covers the version, its structs are not all
        known, or there is no such client.
        """
        tables = self._opcodes()
        stale = tables is not self._tables or self.catalog.edition != self._edition
        if stale or len(self._made) >= MOST_DIALECTS:
            self._tables, self._edition = tables, self.catalog.edition
            self._made.clear()
        found = self._made.get(version)
        if found is None:
            table = tables.for_version(version)
            found = Dialect(version, table, self.catalog, self._rules.for_version(version))
            if version != BEFORE_LOGIN:
                self._check(found)
            self._made[version] = found
        return found

    def knows(self, version: int) -> bool:
        """Say whether a client of this version can be served."""
        if version == BEFORE_LOGIN:
            return False
        try:
            self.for_version(version)
        except UnknownVersion:
            return False
        return True

    def _check(self, dialect: Dialect) -> None:
        if not dialect.rules.is_known:
            raise UnknownVersion(dialect.version)
        try:
            for name in self._needed:
                dialect.layout(name)
        except UnknownStruct as error:
            raise UnknownVersion(dialect.version) from error


LOGIN_REQUEST: Final = 0
LOGIN_BY_NUMBER: Final = 1
"""Opcodes of a client's first message, to a login server and at a world's door.

Source: docs/protocol/opcodes.md#data-sets.
"""
CLIENT_COMMAND: Final = "OP_ClientCmdMsg"
"""The message that most of what a world says comes in (docs/protocol/structs.md#client-cmd)."""
AVATAR_READY: Final = "sys_client_avatar_ready"
"""The signal of a client whose body stands in the zone."""
NO_TARGET: Final = 0xFFFF
"""Index of a ghost that says nobody is meant."""
NOT_SEEN: Final = 0xFFFFFFFF
"""Spawn of a speaker or listener whom the client is not shown."""
DELETED_NAME: Final = "(deleted)"
"""Name in the character list of one that was deleted in this session."""


def read_name(raw: str) -> str:
    """Return the text of a name field: UTF-8 where the bytes are valid UTF-8, else latin-1."""
    return raw if raw.isascii() else read_text(raw.encode("latin-1"))


def wire_name(name: str) -> str:
    """Return the latin-1 view of a name's UTF-8 bytes, as a struct's string field wants it."""
    if name.isascii():
        return name
    return name.encode("utf-8", "replace").decode("latin-1")


def read_secret(raw: str) -> bytes:
    """Return the bytes of a password field exactly as the client sent them."""
    return raw.encode("latin-1")


def wire_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with every text as a struct's string field wants it, lists of rows included."""
    return {name: _wire(value) for name, value in values.items()}


def _wire(value: Any) -> Any:
    if isinstance(value, str):
        return wire_name(value)
    if isinstance(value, list):
        return [wire_texts(row) if isinstance(row, Mapping) else _wire(row) for row in value]
    return value
