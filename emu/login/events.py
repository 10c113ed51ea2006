"""Operator events of the login service, as frozen values, and their texts.

The service passes each event to its `log` port; the shell decides how lines are written. No event
holds a password. Texts from the network are made printable and cut when the event is formatted,
never before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

from emu.limits.repeats import UnknownMessages

# Bounds the length of a line: texts from the network may be as long as a message.
LONGEST_TEXT = 64
"""Characters of one text from the network that a line shows."""
LONGEST_REASON = 200
"""Characters of a reason; some quote text from the network."""


@dataclass(frozen=True, slots=True)
class LoginEvent:
    """Base of all events; `level` is ``debug``, ``info`` or ``warn``.

    An event that unauthenticated peers can repeat at will has in `repeats` the name of its summary.
    An event of ordinary use, which is summarized only above a rate, has that name in `ordinary`.
    `log_name` is the name in structured logs, if it is not that of the class.
    """

    level: ClassVar[str] = "info"
    template: ClassVar[str] = ""
    repeats: ClassVar[str] = ""
    ordinary: ClassVar[str] = ""
    log_name: ClassVar[str] = ""
    address: str


@dataclass(frozen=True, slots=True)
class AccountLoggedIn(LoginEvent):
    """A client is logged in."""

    template: ClassVar[str] = "login of {account} from {address}, client {version}"
    ordinary: ClassVar[str] = "logins"
    log_name: ClassVar[str] = "LoginAccepted"
    account: str
    account_id: int
    version: int


@dataclass(frozen=True, slots=True)
class LoginRefused(LoginEvent):
    """A login request was denied; `account` is the name as the client gave it."""

    template: ClassVar[str] = "login of {account} from {address} refused: {reason}"
    repeats: ClassVar[str] = "logins refused"
    account: str
    reason: str
    version: int = 0


@dataclass(frozen=True, slots=True)
class SessionReplaced(LoginEvent):
    """An account logged in again and its earlier session was ended."""

    template: ClassVar[str] = "session of {account} from {address} ended: {reason}"
    ordinary: ClassVar[str] = "sessions replaced"
    account: str
    reason: str


@dataclass(frozen=True, slots=True)
class ClientMoved(LoginEvent):
    """A client has another address; its session goes on there."""

    template: ClassVar[str] = "client {before} {account} is at {address} port {port} now"
    ordinary: ClassVar[str] = "address changes"
    account: str
    before: str
    port: int


@dataclass(frozen=True, slots=True)
class ClientEnded(LoginEvent):
    """A client's session is over; `account` is empty when it never logged in."""

    level: ClassVar[str] = "debug"
    template: ClassVar[str] = "client {address} {account} is gone: {reason}"
    account: str
    reason: str


@dataclass(frozen=True, slots=True)
class CharacterCreated(LoginEvent):
    """A world made a character and the list has it."""

    template: ClassVar[str] = "{account} made {name} on world {world_id}, client {version}"
    ordinary: ClassVar[str] = "characters made"
    account: str
    name: str
    world_id: int
    char_id: int
    version: int


@dataclass(frozen=True, slots=True)
class CreateRefused(LoginEvent):
    """A create request was refused, by the world or before it got there."""

    template: ClassVar[str] = "{account} may not make {name} on world {world_id}: {reason}"
    repeats: ClassVar[str] = "characters refused"
    account: str
    name: str
    world_id: int
    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class CharacterDeleted(LoginEvent):
    """A character was marked deleted, by its owner or because its world no longer has it."""

    template: ClassVar[str] = "{account} lost {name} on world {world_id}: {reason}"
    ordinary: ClassVar[str] = "characters lost"
    account: str
    name: str
    world_id: int
    char_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class DeleteRefused(LoginEvent):
    """A delete request named no character of the account."""

    template: ClassVar[str] = (
        "{account} may not delete {name} on world {world_id}: no such character"
    )
    repeats: ClassVar[str] = "deletions refused"
    account: str
    name: str
    world_id: int
    char_id: int


@dataclass(frozen=True, slots=True)
class PlayGranted(LoginEvent):
    """A client was sent on to a world."""

    template: ClassVar[str] = "{account} goes to world {world_id} at {server}:{port}"
    ordinary: ClassVar[str] = "plays granted"
    account: str
    world_id: int
    char_id: int
    server: str
    port: int


@dataclass(frozen=True, slots=True)
class PlayRefused(LoginEvent):
    """A play request was refused; `code` is the play reply code that the client was sent."""

    template: ClassVar[str] = "{account} may not enter world {world_id}: {reason} (code {code})"
    repeats: ClassVar[str] = "plays refused"
    account: str
    world_id: int
    char_id: int
    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class MessageDropped(LoginEvent):
    """A message had no effect; `message` is its name, or its number when it has none."""

    level: ClassVar[str] = "debug"
    template: ClassVar[str] = "message {message} of {address} {account} dropped: {reason}"
    account: str
    message: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnknownMessage(LoginEvent):
    """A client sent a message without a handler, for the first time; `name` is empty if unknown.

    `begin` is its first bytes as hexadecimal digits.
    """

    template: ClassVar[str] = (
        "unknown message {opcode} {name} of {account} from {address}, client {version}: "
        "{length} bytes: {begin}"
    )
    account: str
    version: int
    opcode: int
    name: str
    length: int
    begin: str


@dataclass(frozen=True, slots=True)
class ClientLogStored(LoginEvent):
    """A client log was stored."""

    level: ClassVar[str] = "debug"
    template: ClassVar[str] = "{kind} of {account} from {address} stored, {size} characters"
    account: str
    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class AnswerDropped(LoginEvent):
    """A world sent an answer that no client waits for; `address` is the world's id."""

    level: ClassVar[str] = "debug"
    template: ClassVar[str] = "answer of world {address} dropped: {reason}"
    reason: str


@dataclass(frozen=True, slots=True)
class ServiceFault(LoginEvent):
    """This server failed: a store did, or an opcode table lacks a message that it should have."""

    level: ClassVar[str] = "warn"
    template: ClassVar[str] = "cannot serve {account} at {address}: {reason}"
    repeats: ClassVar[str] = "faults"
    account: str
    reason: str


def printable(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return text from the network as one short line without control characters."""
    cut = text if len(text) <= longest else text[:longest] + "..."
    # Control characters could forge further log lines or change an operator's terminal.
    if cut.isprintable():
        return cut
    return "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in cut)


def event_values(event: LoginEvent) -> dict[str, object]:
    """Return the event's fields by name, with texts from the network printable and short."""
    values: dict[str, object] = {}
    kind: Any = type(event)
    for name in _names(kind):
        value = getattr(event, name)
        # The event keeps the original text; only the line is made safe.
        if isinstance(value, str):
            value = printable(value, LONGEST_REASON if name == "reason" else LONGEST_TEXT)
        values[name] = value
    return values


@cache
def _names(
    kind: Any,
) -> tuple[str, ...]:  # Kind is a type; mypy takes its hash for the hash of its instances.
    return tuple(item.name for item in fields(kind))


def format_event(event: LoginEvent, values: Mapping[str, object] | None = None) -> str:
    """Return the event as one line; `values` are the result of `event_values`."""
    values = event_values(event) if values is None else values
    if values.get("account") == "":
        # An empty name would leave a gap in the line.
        nobody = "(no name)" if isinstance(event, LoginRefused) else "(not logged in)"
        values = {**values, "account": nobody}
    return event.template.format_map(values)


@dataclass(frozen=True, slots=True)
class WorldRegistered(LoginEvent):
    """A world server registered."""

    template: ClassVar[str] = "world {name} ({world_id}) registered from {address}, {version}"
    name: str
    world_id: int
    version: str


@dataclass(frozen=True, slots=True)
class WorldRefused(LoginEvent):
    """A world server may not register; `account` is the link account it named."""

    level: ClassVar[str] = "warn"
    template: ClassVar[str] = "world account {account} from {address} refused: {reason}"
    repeats: ClassVar[str] = "worlds refused"
    account: str
    reason: str


@dataclass(frozen=True, slots=True)
class WorldLeft(LoginEvent):
    """A registered world's link is down."""

    template: ClassVar[str] = "world {name} ({world_id}) at {address} is gone: {reason}"
    name: str
    world_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class StoreFailed(LoginEvent):
    """The store failed for a world: one of its reports is lost, or a check was not made."""

    level: ClassVar[str] = "warn"
    template: ClassVar[str] = "the store failed for world {world_id} at {address}: {reason}"
    repeats: ClassVar[str] = "faults"
    world_id: int
    reason: str


UNKNOWN = "unknown message"
"""The reason that counts messages without a handler."""


class LoginLog:
    """Passes events to `log`; counts messages without an effect by reason in `counters`."""

    __slots__ = ("_unknown_messages", "counters", "log")

    def __init__(self, log: Callable[[LoginEvent], None]) -> None:
        self.log = log
        self.counters: Counter[str] = Counter()
        self._unknown_messages = UnknownMessages()

    def dropped(self, address: str, account: str, message: str, reason: str) -> None:
        """Count and log a message that had no effect."""
        self.counters[reason] += 1
        self.log(MessageDropped(address, account, message, reason))

    def unknown(self, event: UnknownMessage) -> None:
        """Count a message without a handler; log the first of its kind from an account."""
        self.counters[UNKNOWN] += 1
        if self._unknown_messages.is_new((event.account, event.version), event.opcode):
            self.log(event)

    def fault(self, address: str, account: str, reason: str) -> None:
        """Count and log a fault of this server while it served a client."""
        self.counters["service fault"] += 1
        self.log(ServiceFault(address, account, reason))
