"""What a captured message is: names, fields and the commands inside OP_ClientCmdMsg.

Owns the choice of a struct for a message and the splitting of commands; what is told as a change is
read by `emu.sight`. Must not know captures or datagrams: opcode and payload come in, in the clear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from emu.capture.formats.records import Address
from emu.capture.lookup import StructLookup
from emu.dialects.common import CLIENT_COMMAND
from emu.errors import EmuError, MalformedMessage, UnknownVersion
from emu.opcodes import OpcodeTable, OpcodeTables
from emu.sight import WorldStream
from emu.structs import Layout
from emu.structs.client_cmd import EXAMINE_INFO, ClientCmd, each_client_cmd

MAX_COMMANDS = 1024
_WIDE = 0xFF
"""First byte of an opcode of three bytes (docs/protocol/transport.md#messages)."""
NAMELESS = "the opcode table of its version does not name it"


@dataclass(frozen=True, slots=True)
class Command:
    """One command inside OP_ClientCmdMsg; `payload` is behind the sub-opcode.

    `undecoded` says why there are no fields.
    """

    opcode: int
    name: str | None
    payload: bytes
    fields: dict[str, Any] | None
    undecoded: str | None = None


@dataclass(frozen=True, slots=True)
class CapturedMessage:
    """One application message of a capture.

    `session_id` is None for a session that began before the capture, `to_server` the direction;
    `payload` is the bytes behind the opcode, `fields` what a struct made of them (None when none
    fits), `commands` the parts of an OP_ClientCmdMsg (None for other messages), `undecoded` why
    there are no fields, or why not all commands are there.
    """

    t: float
    source: Address
    destination: Address
    version: int | None
    opcode: int
    name: str | None
    payload: bytes
    fields: dict[str, Any] | None
    commands: tuple[Command, ...] | None
    session_id: int | None
    to_server: bool
    undecoded: str | None = None

    @property
    def session(self) -> SessionEnds:
        """The session it is of: equal for all its messages, in both directions."""
        ends = (self.source, self.destination)
        client, server = ends if self.to_server else reversed(ends)
        return SessionEnds(client, server, self.session_id)


class SessionEnds(NamedTuple):
    """Which session a message is of: its two ends, and its id (None when it began before)."""

    client: Address
    server: Address
    session_id: int | None


class Decoded(NamedTuple):
    """What a message is, as in `CapturedMessage`."""

    name: str | None
    fields: dict[str, Any] | None
    commands: tuple[Command, ...] | None
    undecoded: str | None


class MessageDecoder:
    """Names and decodes messages of any client version; one object serves all sessions."""

    __slots__ = ("_layouts", "_names", "_tables")

    def __init__(self, tables: OpcodeTables, layouts: StructLookup) -> None:
        self._tables = tables
        self._layouts = layouts
        self._names: dict[int, OpcodeTable | None] = {}

    def covers(self, version: int) -> bool:
        """Tell whether an opcode table covers a client version."""
        return self._names_of(version) is not None

    def first_bytes(self, version: int | None) -> frozenset[int]:
        """Return the bytes that a client's message may begin with, none for an unknown version."""
        names = self._names_of(version)
        if names is None:
            return frozenset()
        return frozenset({_WIDE, *(number for number in range(_WIDE) if names.name(number))})

    def session(self, version: int | None) -> SessionDecoder:
        """Return what decodes the messages of one session, from its first one on."""
        return SessionDecoder(self._names_of(version), self._layouts, version)

    def _names_of(self, version: int | None) -> OpcodeTable | None:
        if version is None:
            return None
        if version not in self._names:
            try:
                self._names[version] = self._tables.for_version(version)
            except UnknownVersion:
                self._names[version] = None
        return self._names[version]


class SessionDecoder:
    """Names and decodes the messages of one session in their order."""

    __slots__ = ("_layouts", "_names", "_version", "version", "world")

    def __init__(
        self, names: OpcodeTable | None, layouts: StructLookup, version: int | None
    ) -> None:
        self.version = version
        self.world = WorldStream(_VersionLayouts(layouts, version or 0))
        """What was told so far, of which later messages say only what changed."""
        self._names = names
        self._layouts = layouts
        self._version = version or 0

    def decode(self, opcode: int, payload: bytes, *, to_server: bool = False) -> Decoded:
        """Return what the next message of one direction is; None for what is not known."""
        names = self._names
        if names is None:
            return Decoded(None, None, None, self._why_nameless())
        name = names.name(opcode)
        if name is None:
            return Decoded(None, None, None, NAMELESS)
        if name != CLIENT_COMMAND:
            fields, problem = self._fields(name, None, payload, to_server=to_server)
            return Decoded(name, fields, None, problem)
        split = split_commands(payload, self._version, names.get(EXAMINE_INFO))
        commands = []
        for number, inner in split.commands:
            command = names.name(number)
            fields, problem = None, NAMELESS
            if command is not None:
                fields, problem = self._fields(name, command, inner, to_server=to_server)
            commands.append(Command(number, command, inner, fields, problem))
        return Decoded(name, None, tuple(commands), split.problem)

    def _why_nameless(self) -> str:
        if self.version is None:
            return "the client version is not known"
        return f"no opcode table covers client version {self.version}"

    def _fields(
        self, name: str, command: str | None, payload: bytes, *, to_server: bool
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Return the fields of a message or a command, or None and why."""
        try:
            fields = self.world.read(command or name, payload, to_server=to_server)
        except EmuError as error:
            return None, str(error)
        if fields is not None:
            return fields, None
        problem = "no struct is known for it"
        for number, layout in enumerate(self._layouts.layouts_for(name, command, self._version)):
            try:
                return layout.decode(payload), None
            except EmuError as error:
                if number == 0:
                    problem = str(error)
        return None, problem


@dataclass(frozen=True, slots=True)
class _VersionLayouts:
    """The structs of one client version, as `emu.sight` asks for them."""

    layouts: StructLookup
    version: int

    def layout(self, name: str) -> Layout:
        return self.layouts.layout(name, self.version)


class SplitCommands(NamedTuple):
    """The commands of a body, and what is wrong behind them."""

    commands: list[ClientCmd]
    problem: str | None


def split_commands(body: bytes, version: int, examine_info: int | None = None) -> SplitCommands:
    """Return (sub-opcode, payload) of every command in an OP_ClientCmdMsg body.

    `examine_info` is the number of the item window, whose size is another (`client_cmd`).
    A damaged body gives the commands before the damage, and a long one the first `MAX_COMMANDS`.
    """
    commands: list[ClientCmd] = []
    try:
        for command in each_client_cmd(body, version, examine_info=examine_info):
            if len(commands) == MAX_COMMANDS:
                return SplitCommands(commands, f"more than {MAX_COMMANDS} commands")
            commands.append(command)
    except MalformedMessage as error:
        return SplitCommands(commands, str(error))
    return SplitCommands(commands, None)
