"""Captured messages: names, fields, and the commands in OP_ClientCmdMsg.

This module selects the struct for a message and splits commands; `emu.world_stream` reads deltas.
Its input is opcode and decrypted payload.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from emu.capture.formats.records import Address
from emu.dialects.dialect import CLIENT_COMMAND
from emu.errors import EmuError, MalformedMessage, UnknownStruct, UnknownVersion
from emu.opcodes import OpcodeTable, OpcodeTables
from emu.opcodes.table import names_of_message
from emu.structs import StructCatalog, StructLayout
from emu.structs.packed import EXAMINE_INFO, ClientCmd, each_client_cmd
from emu.world_stream.stream import WorldStream

LOGIN_STRUCTS = {
    "OP_LoginRequestMsg": "LS_LoginRequest",
    "OP_LoginByNumRequestMsg": "LoginByNumRequest",
}
"""A client's first message: servers read it before they know the version."""
LOGIN_VERSIONS = (1, 1208)
"""The struct versions that servers try on it.

Sources: docs/protocol/login.md#version, docs/protocol/world/entering.md#login-by-num.
"""
MAX_REMEMBERED = 10_000


class StructLookup:
    """Finds the possible layouts of a message.

    `catalog` has the shipped structs; `files` are the operator's struct files, which are tried
    first. Raises `FileFormatError` for a file that cannot be used.
    """

    __slots__ = ("_catalogs", "_found")

    def __init__(self, catalog: StructCatalog, files: Sequence[Path] = ()) -> None:
        self._catalogs = [catalog]
        if files:
            own = StructCatalog()
            for file in files:
                own.load(file)
            self._catalogs.insert(0, own)
        self._found: dict[tuple[str, str | None, int], list[StructLayout | _LoginLayout]] = {}

    def layout(self, name: str, version: int) -> StructLayout:
        """Return the layout of a struct by its name; raises `UnknownStruct`."""
        # The operator's files come first, so that they can correct a shipped struct.
        for catalog in self._catalogs[:-1]:
            with suppress(UnknownStruct):
                return catalog.layout(name, version)
        return self._catalogs[-1].layout(name, version)

    def layouts_for(
        self, opcode_name: str, command_name: str | None, version: int
    ) -> Sequence[StructLayout | _LoginLayout]:
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
            # A capture may claim any number of versions; without a bound each would add entries.
            if len(self._found) < MAX_REMEMBERED:
                self._found[key] = found
        return found


def opcode_ranges(tables: OpcodeTables) -> Iterator[tuple[int, int, Mapping[int, str]]]:
    """Yield (lowest version, highest, names by number) for the dissector, without overlaps."""
    for lowest, highest, table in tables.spans():
        yield lowest, highest, table.names


class _LoginLayout:
    """A layout of a client's first message, which servers accept short or long.

    It fits if its version field holds the version of the session, because the version was found
    there.
    """

    __slots__ = ("_layout", "_version")

    def __init__(self, layout: StructLayout, version: int) -> None:
        self._layout = layout
        self._version = version

    def decode(self, data: bytes) -> dict[str, Any]:
        """Return the fields; raises `MalformedMessage` when the version does not match."""
        fields = self._layout.decode_short(data)
        if fields.get("version") != self._version:
            raise MalformedMessage("another version's layout")
        return fields


def _layouts_of(catalog: StructCatalog, opcode_name: str, version: int) -> Iterator[StructLayout]:
    for name in names_of_message(opcode_name):
        yield from catalog.for_opcode(name, version)


def _login_layouts(
    catalog: StructCatalog, opcode_name: str, version: int
) -> Iterator[StructLayout | _LoginLayout]:
    name = LOGIN_STRUCTS.get(opcode_name)
    if name is None:
        return
    layouts = []
    for struct_version in LOGIN_VERSIONS:
        try:
            layouts.append(catalog.layout(name, struct_version))
        except UnknownStruct:
            continue
    # The strict layouts come first. Only if none fits, a short message is accepted by its
    # version.
    yield from layouts
    for layout in layouts:
        yield _LoginLayout(layout, version)


MAX_COMMANDS = 1024
_WIDE = 0xFF
"""The first byte of an opcode of three bytes (docs/protocol/transport.md#messages)."""
NAMELESS = "the opcode table of its version does not name it"


@dataclass(frozen=True, slots=True)
class CapturedCommand:
    """One command in OP_ClientCmdMsg; `payload` follows its sub-opcode.

    `undecoded` is the reason why there are no fields.
    """

    opcode: int
    name: str | None
    payload: bytes
    fields: dict[str, Any] | None
    undecoded: str | None = None


@dataclass(frozen=True, slots=True)
class CapturedMessage:
    """One application message of a capture.

    `session_id` is None for a session that began before the capture, `to_server` the direction.
    `payload` is the bytes after the opcode, `fields` the decoded struct (None when none fits),
    `commands` the commands of an OP_ClientCmdMsg (None for other messages). `undecoded` is the
    reason why fields or commands are missing.
    """

    t: float
    source: Address
    destination: Address
    version: int | None
    opcode: int
    name: str | None
    payload: bytes
    fields: dict[str, Any] | None
    commands: tuple[CapturedCommand, ...] | None
    session_id: int | None
    to_server: bool
    undecoded: str | None = None

    @property
    def session(self) -> SessionKey:
        """The session of the message: equal for all its messages, in both directions."""
        ends = (self.source, self.destination)
        client, server = ends if self.to_server else reversed(ends)
        return SessionKey(client, server, self.session_id)


class SessionKey(NamedTuple):
    """What identifies a session: its two addresses, and its id (None when it began before)."""

    client: Address
    server: Address
    session_id: int | None


class Decoded(NamedTuple):
    """The decoded contents of a message, as in `CapturedMessage`."""

    name: str | None
    fields: dict[str, Any] | None
    commands: tuple[CapturedCommand, ...] | None
    undecoded: str | None


class MessageDecoder:
    """Names and decodes messages of any client version; one object serves all sessions."""

    __slots__ = ("_layouts", "_names", "_tables")

    def __init__(self, tables: OpcodeTables, layouts: StructLookup) -> None:
        self._tables = tables
        self._layouts = layouts
        self._names: dict[int, OpcodeTable | None] = {}

    def covers(self, version: int) -> bool:
        """Return whether an opcode table covers a client version."""
        return self._names_of(version) is not None

    def first_bytes(self, version: int | None) -> frozenset[int]:
        """Return the possible first bytes of a client's message, none for an unknown version."""
        names = self._names_of(version)
        if names is None:
            return frozenset()
        return frozenset({_WIDE, *(number for number in range(_WIDE) if names.name(number))})

    def session(self, version: int | None) -> SessionDecoder:
        """Return the decoder of one session, for its messages from the first one on."""
        return SessionDecoder(self._names_of(version), self._layouts, version)

    def _names_of(self, version: int | None) -> OpcodeTable | None:
        if version is None:
            return None
        if version not in self._names:
            try:
                self._names[version] = self._tables.for_version(version)
            except UnknownVersion:
                # Stored as well, so that an uncovered version is not searched again for each
                # message.
                self._names[version] = None
        return self._names[version]


class SessionDecoder:
    """Names and decodes the messages of one session in order."""

    __slots__ = ("_layouts", "_names", "_version", "version", "world")

    def __init__(
        self, names: OpcodeTable | None, layouts: StructLookup, version: int | None
    ) -> None:
        self.version = version
        self.world = WorldStream(_VersionLayouts(layouts, version or 0))
        """The baselines of deltas, from earlier messages."""
        self._names = names
        self._layouts = layouts
        self._version = version or 0

    def decode(self, opcode: int, payload: bytes, *, to_server: bool = False) -> Decoded:
        """Return the contents of the next message of one direction; None for unknown fields."""
        names = self._names
        if names is None:
            return Decoded(None, None, None, self._why_nameless())
        name = names.name(opcode)
        if name is None:
            return Decoded(None, None, None, NAMELESS)
        if name != CLIENT_COMMAND:
            fields, problem = self._fields(name, None, payload, to_server=to_server)
            return Decoded(name, fields, None, problem)
        # The item window has its size in another form, so its number must be known before
        # splitting.
        split = split_commands(payload, self._version, names.get(EXAMINE_INFO))
        commands = []
        for number, inner in split.commands:
            command = names.name(number)
            fields, problem = None, NAMELESS
            if command is not None:
                fields, problem = self._fields(name, command, inner, to_server=to_server)
            commands.append(CapturedCommand(number, command, inner, fields, problem))
        return Decoded(name, None, tuple(commands), split.problem)

    def _why_nameless(self) -> str:
        if self.version is None:
            return "the client version is not known"
        return f"no opcode table covers client version {self.version}"

    def _fields(
        self, name: str, command: str | None, payload: bytes, *, to_server: bool
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Return the fields of a message or a command, or None and the reason."""
        try:
            fields = self.world.read_message(command or name, payload, to_server=to_server)
        except EmuError as error:
            return None, str(error)
        if fields is not None:
            return fields, None
        problem = "no struct is known for it"
        for number, layout in enumerate(self._layouts.layouts_for(name, command, self._version)):
            try:
                return layout.decode(payload), None
            except EmuError as error:
                # The first layout is the best one, so its error describes the fault best.
                if number == 0:
                    problem = str(error)
        return None, problem


@dataclass(frozen=True, slots=True)
class _VersionLayouts:
    """The structs of one client version, in the form that `emu.world_stream` needs."""

    layouts: StructLookup
    version: int

    def layout(self, name: str) -> StructLayout:
        return self.layouts.layout(name, self.version)


class SplitCommands(NamedTuple):
    """The commands of a body, and the fault that follows them."""

    commands: list[ClientCmd]
    problem: str | None


def split_commands(body: bytes, version: int, examine_info: int | None = None) -> SplitCommands:
    """Return (sub-opcode, payload) of every command in an OP_ClientCmdMsg body.

    `examine_info` is the number of the item window, whose size is coded differently (`client_cmd`).
    A damaged body gives the commands before the damage, and a long one the first `MAX_COMMANDS`.
    """
    commands: list[ClientCmd] = []
    try:
        for command in each_client_cmd(body, version, examine_info=examine_info):
            # A few bytes can claim very many empty commands.
            if len(commands) == MAX_COMMANDS:
                return SplitCommands(commands, f"more than {MAX_COMMANDS} commands")
            commands.append(command)
    except MalformedMessage as error:
        return SplitCommands(commands, str(error))
    return SplitCommands(commands, None)
