"""A dialect: the opcode numbers, struct layouts and rules of one client version.

A `Dialect` is a snapshot. A client keeps the dialect of its login, even if an operator edits the
opcode tables later. Before login every client has version 0 (docs/protocol/login.md#version).
`Dialects` makes dialects on demand, and drops them when the tables are replaced.

`VersionRules` are switches of the services that depend on the version, from
`data/login/versions.toml`. `ChannelNumbers` are the numbers of chat channels, from
`data/world/chat.toml`.

A struct's string field is `str` with one character per byte, so every byte survives. Names become
text by `read_name` and bytes again by `wire_name`. Passwords stay bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import frozen

from emu.errors import FileFormatError, StructValueError, UnknownStruct, UnknownVersion
from emu.files import data_file, read_document
from emu.opcodes import OpcodeTable, OpcodeTables
from emu.schema import field, read_table
from emu.structs import FieldDefinition, FieldType, StructCatalog, StructLayout
from emu.structs.layout import keyed_fields
from emu.structs.packed import write_client_cmd
from emu.texts import read_text

T = TypeVar("T")

BEFORE_LOGIN = 0
"""The version of every client until its login request states another."""

FIRST_LAYOUT = 1
"""The first version that structs have. Opcode ranges begin at 0."""

COLORS_AS_FLOATS = frozenset(("CreateCharacter", "CreateCharacterBare"))
"""Structs whose colors are three floats on the wire (docs/protocol/characters.md#create)."""
MOST_DIALECTS = 256
"""Dialects that are kept at the same time."""


@dataclass(frozen=True, slots=True)
class VersionRules:
    """The rules of one client version; `data/login/versions.toml` describes each."""

    is_known: bool
    entry_format: int
    world_position: bool
    allowed_races: int
    sent_max_characters: int
    keep_deleted_entries: bool
    play_after_create: bool
    signed_colors: bool
    zone_by_name: bool
    long_log_header: bool
    play_by_name: bool
    bare_create_request: bool
    equipment_slots: int


@dataclass(frozen=True, slots=True)
class WorldVersionRules:
    """A world's rules of one client version; `data/world/versions.toml` describes each."""

    ghost_size_unit: int
    ghost_kind_byte: bool
    ghost_player_time: bool
    verbs_by_command: bool
    wide_icons: bool
    ghost_thing_mode: int
    no_animation: int
    no_item: int
    gesture_apart: bool
    recipe_book: bool
    group_screen: bool
    fog_sent_back: bool
    most_visual: int
    blow_step: int
    blow_landed: int
    bar_unit: int
    bar_span: int
    zone_level: int
    zone_flags: int
    older_windows: bool
    older_sheet: bool
    buy_list: int
    own_texts: bool
    poor_error: int
    bags_show_content: bool
    most_record_count: int
    item_window_type: int
    spell_window: int
    spell_window_times: int
    sort_of_books: bool
    most_stack: int
    adornment_slots: int
    all_classes: int
    quests_without_offer: bool
    feather_colors: bool
    offer_flag: int
    recipe_window: bool
    recipe_devices: int
    mass_production: bool
    no_product: int
    followed_from_end: bool


class _StepTable:
    """Checked steps of rules: the client versions at which the value of each changes."""

    def __init__(self, steps: Mapping[str, Sequence[Any]], of: type) -> None:
        # Annotations are texts here, because the module postpones their evaluation.
        kinds = {item.name: _KINDS[str(item.type)] for item in fields(of)}
        for name in set(steps) ^ set(kinds):
            fault = "unknown rule" if name in steps else "the rule is missing"
            raise FileFormatError(fault, place=name)
        self._steps: dict[str, tuple[list[int], list[Any]]] = {}
        for name, kind in kinds.items():
            self._steps[name] = _checked(name, steps[name], kind)

    def _values(self, version: int) -> dict[str, Any]:
        return {
            # `_checked` makes sure that every rule starts at version 0, so the index is never
            # negative.
            name: values[bisect_right(versions, version) - 1]
            for name, (versions, values) in self._steps.items()
        }


class RuleTable(_StepTable):
    """The rules of every client version."""

    def __init__(self, steps: Mapping[str, Sequence[Any]]) -> None:
        """`steps` has [version, value] pairs by rule. Raises `FileFormatError` with the rule."""
        super().__init__(steps, VersionRules)

    def for_version(self, version: int) -> VersionRules:
        """Return the rules of a client version."""
        return VersionRules(**self._values(version))


class WorldRuleTable(_StepTable):
    """A world's rules of every client version."""

    def __init__(self, steps: Mapping[str, Sequence[Any]]) -> None:
        """`steps` has [version, value] pairs by rule. Raises `FileFormatError` with the rule."""
        super().__init__(steps, WorldVersionRules)

    def for_version(self, version: int) -> WorldVersionRules:
        """Return the rules of a client version."""
        return WorldVersionRules(**self._values(version))


_KINDS: dict[str, type] = {"int": int, "bool": bool}


def _checked(name: str, steps: Any, kind: type) -> tuple[list[int], list[Any]]:
    versions: list[int] = []
    values: list[Any] = []
    if not isinstance(steps, list):
        raise FileFormatError("expected a list of steps", place=name)
    for step in steps:
        match step:
            # `isinstance` would accept true for a number, because a bool is an int in Python.
            case [int() as version, value] if type(value) is kind:
                versions.append(version)
                values.append(value)
            case _:
                raise FileFormatError(f"expected [version, {kind.__name__}]: {step!r}", place=name)
    if not versions or versions[0] != 0 or versions != sorted(set(versions)):
        raise FileFormatError("steps must start at version 0 and ascend", place=name)
    return versions, values


@cache
def shipped_rules() -> RuleTable:
    """Return the shipped table."""
    return RuleTable(read_document(data_file("login", "versions.toml")))


@cache
def shipped_world_rules() -> WorldRuleTable:
    """Return the shipped table of a world's rules."""
    return WorldRuleTable(read_document(data_file("world", "versions.toml")))


@lru_cache(256)
def world_rules(version: int) -> WorldVersionRules:
    """Return a world's rules of a client version."""
    return shipped_world_rules().for_version(version)


class Dialect:
    """The opcode numbers, layouts and rules of one client version."""

    __slots__ = (
        "_catalog", "_layouts", "_shapes", "_signed", "made", "rules", "table", "version",
        "world_rules",
    )  # fmt: skip

    def __init__(
        self, version: int, table: OpcodeTable, catalog: StructCatalog, rules: VersionRules
    ) -> None:
        self.version = version
        self.table = table
        self.rules = rules
        self.world_rules = world_rules(version)
        self._catalog = catalog
        self._layouts: dict[str, StructLayout] = {}
        self._shapes: dict[str, StructShape] = {}
        self._signed: dict[tuple[str, str], bool] = {}
        self.made: dict[Hashable, bytes] = {}
        """A cache of payloads that are the same for every client of this version."""

    def layout(self, name: str) -> StructLayout:
        """Return the layout of a struct for this version. Raises `UnknownStruct`."""
        found = self._layouts.get(name)
        if found is None:
            # Before login a client has version 0, but struct versions begin at 1.
            version = max(self.version, FIRST_LAYOUT)
            floats = name in COLORS_AS_FLOATS
            found = self._catalog.layout(name, version, create_color=floats)
            self._layouts[name] = found
        return found

    def has(self, name: str) -> bool:
        """Return whether this version has a struct."""
        try:
            self.layout(name)
        except UnknownStruct:
            return False
        return True

    def template(self, name: str) -> Mapping[str, Any]:
        """Return a struct's unconditional fields with their zero values."""
        layout = self.layout(name)
        # Decoding the encoded zeros leaves out conditional fields exactly as the wire does.
        return self._made("zeros", layout, lambda: layout.decode(layout.encode({})))

    def element(self, name: str, count: str, array: str) -> Mapping[str, Any]:
        """Return the unconditional fields of an array's elements with their zero values."""
        layout = self.layout(name)
        # An empty array would not show the fields of its elements, so one element is encoded.
        zeros = {count: 1, array: [{}]}
        return self._made(
            f"zeros of {array}", layout, lambda: layout.decode(layout.encode(zeros))[array][0]
        )

    def encode_known(self, name: str, values: Mapping[str, Any]) -> bytes:
        """Encode a struct from values for any version; leave out what this version does not have.

        Fields that the layout lacks are left out, also in substructs and in the elements of an
        array. Lists are cut, or filled with zeros, to the length of the field. If the field is a
        single value, a list gives its first element.
        """
        shape = self._shapes.get(name) or self._shape_of(name)
        names, shaped = shape.names, shape.shaped
        # No call per field: a list of characters has some hundred single values.
        fitted = {key: value for key, value in values.items() if key in names}
        for key in [
            key for key, value in fitted.items() if value.__class__ not in _SINGLE or key in shaped
        ]:
            fitted[key] = shape.fitted(key, fitted[key])
        # Strict, because a value that a condition silently drops is a mistake of the caller.
        return shape.layout.encode(fitted, strict=True)

    def _shape_of(self, name: str) -> StructShape:
        """Return the shape of a struct, made once."""
        layout = self.layout(name)
        made = self._made("shape", layout, lambda: StructShape(layout, self.template(name)))
        self._shapes[name] = made
        return made

    def _made(self, kind: str, layout: StructLayout, make: Callable[[], T]) -> T:
        """Return what is made of a layout once for all versions that have it."""
        found: T | None = self._catalog.made.get((kind, layout))
        if found is None:
            found = self._catalog.made[kind, layout] = make()
        return found

    def message(self, struct: str, values: Mapping[str, Any]) -> tuple[int, bytes]:
        """Return the opcode number and the payload of a struct's message.

        Values that this version does not have are left out. A struct of a command inside
        OP_ClientCmdMsg is wrapped into that message. Raises `UnknownStruct`, `UnknownOpcode` and
        `StructValueError`.
        """
        return self.wrap(struct, self.encode_known(struct, values))

    def wrap(self, struct: str, payload: bytes) -> tuple[int, bytes]:
        """Return the opcode number and the payload of a struct that is already encoded."""
        definition = self.layout(struct).definition
        number = self.table.number(definition.opcode_name)
        if not definition.opcode_type:
            return number, payload
        command = self.table.number(definition.opcode_type)
        return number, write_client_cmd(command, payload, self.version)

    def holds_signed(self, struct: str, field: str) -> bool:
        """Return whether a field of three components takes negative numbers."""
        # The layout is asked by an attempt: encoding -1 fails exactly if the type is unsigned.
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


class StructShape:
    """What `Dialect.encode_known` asks of a struct's layout."""

    __slots__ = ("_blocks", "_zeros", "layout", "names", "shaped")

    def __init__(self, layout: StructLayout, zeros: Mapping[str, Any]) -> None:
        """`zeros` has the unconditional fields with their zero values."""
        fields = layout.definition.fields
        self.layout = layout
        self.names = keyed_fields(fields).keys()
        self._blocks = blocks_of(fields)
        self._zeros = zeros
        lists = {key for key, zero in zeros.items() if isinstance(zero, list)}
        self.shaped: Collection[str] = frozenset(lists | self._blocks.keys())
        """The fields whose values have parts."""

    def fitted(self, key: str, value: Any) -> Any:
        """Return a field's value without what the layout does not have."""
        block = self._blocks.get(key)
        if block is not None:
            value = block.known(value)
            if block.is_array:
                return value
        # A conditional field has no zero value: only some messages have it.
        return fit(self._zeros[key], value) if key in self._zeros else value


class BlockNames:
    """The field names of a substruct, or of an array's elements."""

    __slots__ = ("_inner", "_names", "_sizes", "is_array")

    def __init__(self, entry: FieldDefinition) -> None:
        self.is_array = entry.type is FieldType.ARRAY
        """Whether the number of elements follows from a count."""
        self._names = frozenset(keyed_fields(entry.fields))
        self._inner = blocks_of(entry.fields)
        self._sizes = {
            name: one.size
            for name, one in keyed_fields(entry.fields).items()
            if one.size > 1 and name not in self._inner
        }

    def known(self, value: Any) -> Any:
        """Return elements, or a single one, without the values that the layout does not have.

        Lists of numbers are cut, or filled with zeros, to the length of their field.
        """
        if not isinstance(value, list | tuple):
            return self._known(value)
        found: list[Mapping[str, Any]] = []
        before: object = None
        for element in value:
            # What is repeated stays one object: it is encoded once.
            if element is not before or not found:
                before, made = element, self._known(element)
            found.append(made)
        return found

    def _known(self, element: Mapping[str, Any]) -> Mapping[str, Any]:
        names = element.keys()
        if not self._inner and names <= self._names and self._sizes.keys().isdisjoint(names):
            return element
        found: dict[str, Any] = {}
        for name, value in element.items():
            if name in self._inner:
                found[name] = self._inner[name].known(value)
            elif name in self._sizes and isinstance(value, list | tuple):
                found[name] = fit([0] * self._sizes[name], value)
            elif name in self._names:
                found[name] = value
        return found


def blocks_of(fields: Collection[FieldDefinition]) -> dict[str, BlockNames]:
    """Return the arrays and substructs among fields, by key."""
    return {
        key: BlockNames(entry)
        for key, entry in keyed_fields(fields).items()
        if entry.type is FieldType.ARRAY or entry.substruct
    }


def fit(zero: Any, value: Any) -> Any:
    """Return `value` in the shape of `zero`, the field's zero value."""
    if isinstance(zero, list):
        if not isinstance(value, list | tuple):
            return [value, *zero[1:]]
        return [*value[: len(zero)], *zero[len(value) :]]
    if isinstance(value, list | tuple):
        return value[0]
    return value


class Dialects:
    """The dialects of all versions in use, made on demand."""

    def __init__(
        self,
        opcodes: Callable[[], OpcodeTables],
        catalog: StructCatalog,
        rules: RuleTable,
        needed: Collection[str] = (),
    ) -> None:
        """Join tables, layouts and rules. A version without a `needed` struct is unknown."""
        self.catalog = catalog
        self._needed = needed
        self._opcodes = opcodes
        self._rules = rules
        self._tables: OpcodeTables | None = None
        self._edition = catalog.edition
        self._made: dict[int, Dialect] = {}

    def for_version(self, version: int) -> Dialect:
        """Return the dialect of a version.

        Raises `UnknownVersion` if no opcode range covers the version, a needed struct is missing,
        or no client has this version.
        """
        tables = self._opcodes()
        # Clients keep the dialects that they hold; only new sessions get the changed tables.
        stale = tables is not self._tables or self.catalog.edition != self._edition
        # Clients choose their version, so the cache is also emptied when it is full.
        if stale or len(self._made) >= MOST_DIALECTS:
            self._tables, self._edition = tables, self.catalog.edition
            self._made.clear()
        found = self._made.get(version)
        if found is None:
            table = tables.for_version(version)
            found = Dialect(version, table, self.catalog, self._rules.for_version(version))
            # With version 0 a client sends its login request alone: it needs no struct yet.
            if version != BEFORE_LOGIN:
                self._check(found)
            self._made[version] = found
        return found

    def knows(self, version: int) -> bool:
        """Return whether a client of this version can be served."""
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
"""The opcodes of a client's first message, to a login server and on zone entry.

Source: docs/protocol/opcodes.md#data-sets.
"""
CLIENT_COMMAND: Final = "OP_ClientCmdMsg"
"""The message that contains most of a world's messages (docs/protocol/structs.md#client-cmd)."""
AVATAR_READY: Final = "sys_client_avatar_ready"
"""The signal that a client sends when its avatar is ready in the zone."""
NO_TARGET: Final = 0xFFFF
"""The ghost index that means "no target"."""
NOT_SEEN: Final = 0xFFFFFFFF
"""The spawn index of a speaker or hearer that is not in the client's interest set."""
DELETED_NAME: Final = "(deleted)"
"""The name in the character list of a character that was deleted in this session."""


def read_name(raw: str) -> str:
    """Return the text of a name field: UTF-8 if the bytes are valid UTF-8, otherwise latin-1."""
    return raw if raw.isascii() else read_text(raw.encode("latin-1"))


def wire_name(name: str) -> str:
    """Return a name for a struct's string field: its UTF-8 bytes, one character per byte."""
    if name.isascii():
        return name
    # A lone surrogate has no UTF-8 form; a question mark replaces it.
    return name.encode("utf-8", "replace").decode("latin-1")


def read_secret(raw: str) -> bytes:
    """Return the bytes of a password field as the client sent them."""
    return raw.encode("latin-1")


def wire_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with each text converted by `wire_name`, also in lists of rows."""
    # Nearly all values are numbers, and rows of them have hundreds: no call for each.
    return {
        name: value if value.__class__ in _PLAIN else _wire(value) for name, value in values.items()
    }


def _wire(value: Any) -> Any:
    if isinstance(value, str):
        return wire_name(value)
    if isinstance(value, list):
        return [one if one.__class__ in _PLAIN else _wire(one) for one in value]
    return wire_texts(value) if isinstance(value, Mapping) else value


_PLAIN: Final = frozenset({int, float, bool, bytes, type(None)})
"""Types of values that have no text."""
_SINGLE: Final = _PLAIN | {str}
"""Types whose values have no parts."""


def _step(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list) or [type(one) for one in value] != [int, int, int]:
        raise ValueError("must be [first, last, change]")
    first, last, change = value
    return first, last, change


def _channel_numbers(value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(one) is int for one in value.values()):
        raise ValueError("must be a table of numbers")
    return value


@frozen
class Older:
    """The channel numbers of older clients: one ``[[older]]`` of `data/world/chat.toml`."""

    first_version: int = field()
    last_version: int = field()
    steps: tuple[tuple[int, int, int], ...] = field(form=_step)
    """First and last number, and the change of the numbers between them."""
    other: int = field()
    """The number that stands for all others."""


@frozen
class ChatTable:
    """The tables of `data/world/chat.toml`."""

    channels: Mapping[str, int] = field(form=_channel_numbers)
    colors: Mapping[str, int] = field(form=_channel_numbers)
    older: tuple[Older, ...] = field()


class ChannelNumbers:
    """The numbers of channels and text colors, by name and client version."""

    def __init__(self, numbers: Mapping[str, int], older: Sequence[Older]) -> None:
        self._numbers = dict(numbers)
        self._older = tuple(older)

    def number(self, name: str, version: int) -> int:
        """Return a channel's number for a client version. Raises `KeyError` for an unknown name."""
        newest = self._numbers[name]
        for older in self._older:
            if older.first_version <= version <= older.last_version:
                for first, last, change in older.steps:
                    if first <= newest <= last:
                        return newest + change
                return older.other
        return newest

    def name(self, number: int, version: int) -> str:
        """Return the name of a number in a client version; the number as text if it has none."""
        for name in self._numbers:
            if self.number(name, version) == number:
                return name
        return str(number)


@cache
def read_numbers(path: Path | None = None) -> ChannelNumbers:
    """Read a table of channels, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "chat.toml")
    table = read_table(ChatTable, read_document(path), path)
    return ChannelNumbers({**table.channels, **table.colors}, table.older)
