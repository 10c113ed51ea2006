"""Every failure this package raises on purpose, as one tree.

* `EmuError`
    * `ConfigError`: the configuration is wrong; carries every problem found, not only the first
    * `StoreError`: a database cannot be opened, is damaged, or is newer than this program
        * `DuplicateName`: a name that must be unique is taken
        * `OutOfDate`: another process has a newer state of what is to be stored
        * `StoreLocked`: another program is writing
    * `FileFormatError`: a file given by an operator (dump, capture, XML, CSV) cannot be used
    * `CommandError`: an operator's request cannot be carried out
    * `Unanswered`: nobody in any process answers a question, or not in time
    * `UnknownVersion`: no opcode range covers a client version
    * `UnknownOpcode`: a table has no number for a name
    * `UnknownStruct`: no layout of that name at that version
    * `UnknownBase`: a change of something of which nobody was told what it was before
    * `StructValueError`: a value does not fit the field it was given for
    * `ProtocolError`
        * `LocalProtocolError`: our side asked for something the protocol does not allow now
        * `PeerError`: the other side sent something wrong; `reason` names the counter
            * `MalformedDatagram`, `BadChecksum`, `LimitExceeded`
            * `MalformedMessage`
                * `MalformedStruct`: says where, and what was read until there

`str(error)` of anything but a `ProtocolError` is one line fit to be shown to an operator: what is
wrong, where, and what to do. This module must not import any other of the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def visible(text: str) -> str:
    """Return a text as one line: an error quotes what stands in files and comes from networks."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


class EmuError(Exception):
    """Base of every error that this package raises on purpose."""

    def __str__(self) -> str:
        return visible(super().__str__())


class ConfigError(EmuError):
    """The configuration cannot be used.

    `problems` holds one line for each thing that is wrong, each naming its key.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(map(visible, problems))
        super().__init__("; ".join(self.problems))


class StoreError(EmuError):
    """A database cannot be opened, is damaged, or was written by a newer program."""


class DuplicateName(StoreError):
    """A name that must be unique is already taken."""


class OutOfDate(StoreError):
    """What is to be stored is not the newest: another process has it by now."""


class StoreLocked(StoreError):
    """Another program is writing to the database and did not end in time."""


class FileFormatError(EmuError):
    """A file cannot be read as what it should be.

    `place` says where in the file (for instance ``"line 12"``), when that is known.
    """

    def __init__(self, message: str, *, place: str | None = None) -> None:
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)


class CommandError(EmuError):
    """What an operator asked for cannot be done; the text says why and what would work."""


class Unanswered(EmuError):
    """Nobody in any process answers a question, or not in time."""


class UnknownVersion(EmuError):
    """No opcode range covers this client version.

    `version` is the client data version, `nearest` the ranges on either side of the gap.
    """

    def __init__(self, version: int, nearest: Sequence[tuple[int, int]] = ()) -> None:
        self.version = version
        self.nearest = tuple(nearest)
        around = " and ".join(f"{low}-{high}" for low, high in self.nearest)
        tail = f"; the nearest ranges are {around}" if around else ""
        super().__init__(f"no opcode range covers client version {version}{tail}")


class UnknownOpcode(EmuError):
    """An opcode table has no number for this name, or no name for this number."""


class UnknownStruct(EmuError):
    """There is no layout of this name for this client version."""


class StructValueError(EmuError):
    """A value does not fit the field it was given for; the text names struct and field."""


def unusable(error: OSError) -> str:
    """Return the line for a file or folder that the system does not let us use."""
    where = f"{error.filename}: " if error.filename else ""
    hint = "; run this as whoever it belongs to" if isinstance(error, PermissionError) else ""
    return f"{where}cannot be used ({error.strerror or error}){hint}"


class ProtocolError(EmuError):
    """Something that the network protocol does not allow."""


class LocalProtocolError(ProtocolError):
    """Our own side asked for something that the protocol does not allow now."""


class PeerError(ProtocolError):
    """The other side sent something wrong.

    `reason` is a short fixed word sequence (no data of the peer in it); drops are counted by it.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class MalformedDatagram(PeerError):
    """A datagram or protocol packet that does not have the shape its opcode asks for."""


class BadChecksum(PeerError):
    """A datagram whose check does not fit its bytes and the session's key."""


class MalformedMessage(PeerError):
    """An application message that does not fit its layout."""


class MalformedStruct(MalformedMessage):
    """A message that does not fit its struct.

    `struct` is the name and first version of the struct, `field` the path of the field that cannot
    be read (``items[2].text``, empty when something stands behind the last one), `offset` the byte
    of the message where it begins, `values` what was read until there.
    """

    def __init__(self, reason: str, field: str = "", offset: int = 0) -> None:
        super().__init__(reason)
        self.struct = ""
        self.field = field
        self.offset = offset
        self.values: Mapping[str, Any] = {}

    def enter(self, outer: str) -> None:
        """Say what the field is in, a name or ``[index]``; called from the inside out."""
        joined = "" if not self.field or self.field.startswith("[") else "."
        self.field = f"{outer}{joined}{self.field}"

    def __str__(self) -> str:
        names = (self.struct, self.field and f"field {self.field}", f"byte {self.offset}")
        return f"{', '.join(name for name in names if name)}: {self.reason}"


class LimitExceeded(PeerError):
    """The peer went over one of our named limits."""


class UnknownBase(EmuError):
    """A message says what changed of something that was told before we began to listen.

    `what` names the missing thing.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} is not known")
