"""How two processes of one world greet: each proves that it knows the secret, and never says it.

The hub speaks first and sends a number used once; the member answers with a number of its own and
its proof; the hub's proof comes with the welcome. A proof is HMAC-SHA-256 with the secret over
side, both numbers and name, so that neither can be used again, elsewhere, or for the other side.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from emu.errors import MalformedMessage, PeerError
from emu.processes.fleet.frames import Frame, to_note, to_plain
from emu.processes.ports import Note

PROTOCOL: Final = 1
LONGEST_NAME: Final = 31
LONGEST_TEXT: Final = 200
NUMBER_SIZE: Final = 16
"""Bytes of a number used once."""


class Refused(PeerError):
    """The other process does not prove what it has to, or does not want us; says why."""


@dataclass(frozen=True, slots=True)
class Self:
    """What a process says of itself."""

    name: str
    secret: bytes
    about: Callable[[], Note] = field(default=dict)
    """What the others should know of it."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The other end is known now."""

    name: str
    about: dict[str, Any]


Step = tuple[list[Frame], Joined | None]
"""What to send, and who the other is once that is known."""


class HubGreeting:
    """The hub's side. `reason_against` says why a process of a name may not join, if so."""

    def __init__(self, own: Self, number: bytes, reason_against: Callable[[str], str]) -> None:
        self._own = own
        self._number = number
        self._reason_against = reason_against

    def begin(self) -> list[Frame]:
        """Return what is said first."""
        return [["challenge", PROTOCOL, self._number.hex()]]

    def take(self, frame: Frame) -> Step:
        """Take a frame of the member. Raises `Refused` and `MalformedMessage`."""
        match frame:
            case ["hello", str() as name, str() as number, str() as proof, about]:
                theirs = _number(number)
            case _:
                raise MalformedMessage("no greeting")
        own = self._own
        if not _is(proof, _proof(own.secret, "member", self._number, theirs, name)):
            raise Refused("the secret is another one")
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise Refused("that is no name")
        if reason := self._reason_against(name):
            raise Refused(reason)
        answer = _proof(own.secret, "hub", self._number, theirs, own.name)
        welcome = ["welcome", own.name, answer, to_plain(own.about())]
        return [welcome], Joined(name, to_note(about))


class MemberGreeting:
    """The member's side."""

    def __init__(self, own: Self, number: bytes) -> None:
        self._own = own
        self._number = number
        self._theirs = b""

    def begin(self) -> list[Frame]:
        """Return what is said first: nothing."""
        return []

    def take(self, frame: Frame) -> Step:
        """Take a frame of the hub. Raises `Refused` and `MalformedMessage`."""
        own = self._own
        match frame:
            case ["challenge", int() as protocol, str() as number] if not self._theirs:
                if protocol != PROTOCOL:
                    raise Refused(f"the hub speaks version {protocol} of the protocol")
                self._theirs = _number(number)
                proof = _proof(own.secret, "member", self._theirs, self._number, own.name)
                hello = ["hello", own.name, self._number.hex(), proof, to_plain(own.about())]
                return [hello], None
            case ["welcome", str() as name, str() as proof, about] if self._theirs:
                mine = _proof(own.secret, "hub", self._theirs, self._number, name)
                if not _is(proof, mine):
                    raise Refused("the hub does not know the secret")
                return [], Joined(name, to_note(about))
            case ["refused", str() as reason]:
                raise Refused(printable(reason))
        raise MalformedMessage("no greeting")


def printable(text: str) -> str:
    """Return what another process says as it may be shown."""
    return "".join(letter for letter in text[:LONGEST_TEXT] if letter.isprintable())


def _number(text: str) -> bytes:
    try:
        number = bytes.fromhex(text)
    except ValueError:
        raise MalformedMessage("no greeting") from None
    if len(number) != NUMBER_SIZE:
        raise MalformedMessage("no greeting")
    return number


def _proof(secret: bytes, side: str, hubs: bytes, members: bytes, name: str) -> str:
    whole = b"\0".join((side.encode(), hubs.hex().encode(), members.hex().encode(), name.encode()))
    return hmac.digest(secret, whole, "sha256").hex()


def _is(told: str, proof: str) -> bool:
    """Compare in constant time; as texts, `compare_digest` takes ASCII only."""
    return hmac.compare_digest(told.encode(), proof.encode())
