"""What a captured message is: names, fields and the commands inside OP_ClientCmdMsg.

Owns the choice of a struct for a message and the splitting of commands. Must not know captures or
sessions: opcode and body come in, in the clear.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from emu.capture.records import Address
from emu.errors import EmuError, MalformedMessage, UnknownVersion
from emu.structs.client_cmd import EXAMINE_INFO, ClientCmd, each_client_cmd

CLIENT_COMMAND = "OP_ClientCmdMsg"
MAX_COMMANDS = 1024
_WIDE = 0xFF
"""First byte of an opcode of three bytes (eq2-transport.md 6)."""


class Names(Protocol):
    """The opcodes of one client version; `emu.opcodes.OpcodeTable` is one."""

    def name(self, number: int) -> str | None:
        """Return the name of an opcode number, or None."""

    def get(self, name: str) -> int | None:
        """Return the number of an opcode name, or None."""


class Tables(Protocol):
    """The opcodes of all client versions; `emu.opcodes.OpcodeTables` is one."""

    def for_version(self, version: int) -> Names:
        """Return one version's opcodes; raises `UnknownVersion`."""


class Decoder(Protocol):
    """One struct's layout; `emu.structs.Layout` is one."""

    def decode(self, data: bytes) -> dict[str, Any]:
        """Return the fields; raises an `EmuError` when the bytes do not fit exactly."""


class Layouts(Protocol):
    """Where layouts come from."""

    def layouts_for(
        self, opcode_name: str, command_name: str | None, version: int
    ) -> Iterable[Decoder]:
        """Return every layout that a message (or a command in OP_ClientCmdMsg) may have."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command inside OP_ClientCmdMsg; `payload` is behind the sub-opcode."""

    opcode: int
    name: str | None
    payload: bytes
    fields: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class CapturedMessage:
    """One application message of a capture.

    `session_id` is None for a session that began before the capture, `to_server` the direction;
    `payload` is the bytes behind the opcode, `fields` what a struct made of them (None when none
    fits), `commands` the parts of an OP_ClientCmdMsg (None for other messages).
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


class MessageDecoder:
    """Names and decodes messages of any client version; one object serves all sessions."""

    __slots__ = ("_layouts", "_names", "_tables")

    def __init__(self, tables: Tables, layouts: Layouts) -> None:
        self._tables = tables
        self._layouts = layouts
        self._names: dict[int, Names | None] = {}

    def covers(self, version: int) -> bool:
        """Tell whether an opcode table covers a client version."""
        return self._names_of(version) is not None

    def first_bytes(self, version: int | None) -> frozenset[int]:
        """Return the bytes that a client's message may begin with, none for an unknown version."""
        names = self._names_of(version)
        if names is None:
            return frozenset()
        return frozenset({_WIDE, *(number for number in range(_WIDE) if names.name(number))})

    def decode(
        self, version: int | None, opcode: int, body: bytes
    ) -> tuple[str | None, dict[str, Any] | None, tuple[Command, ...] | None]:
        """Return (name, fields, commands) of one message; None for what is not known."""
        names = self._names_of(version)
        name = names.name(opcode) if names is not None else None
        if names is None or name is None or version is None:
            return name, None, None
        if name != CLIENT_COMMAND:
            return name, self._fields(name, None, version, body), None
        commands = []
        for number, payload in split_commands(body, version, names.get(EXAMINE_INFO)):
            command = names.name(number)
            fields = self._fields(name, command, version, payload) if command else None
            commands.append(Command(number, command, payload, fields))
        return name, None, tuple(commands)

    def _names_of(self, version: int | None) -> Names | None:
        if version is None:
            return None
        if version not in self._names:
            try:
                self._names[version] = self._tables.for_version(version)
            except UnknownVersion:
                self._names[version] = None
        return self._names[version]

    def _fields(
        self, name: str, command: str | None, version: int, body: bytes
    ) -> dict[str, Any] | None:
        for layout in self._layouts.layouts_for(name, command, version):
            try:
                return layout.decode(body)
            except EmuError:
                continue
        return None


def split_commands(body: bytes, version: int, examine_info: int | None = None) -> list[ClientCmd]:
    """Return (sub-opcode, payload) of every command in an OP_ClientCmdMsg body.

    `examine_info` is the number of the item window, whose size is another (`client_cmd`).
    A damaged body gives the commands before the damage, and a long one the first `MAX_COMMANDS`.
    """
    commands: list[ClientCmd] = []
    with suppress(MalformedMessage):
        found = each_client_cmd(body, version, examine_info=examine_info)
        commands.extend(islice(found, MAX_COMMANDS))
    return commands
