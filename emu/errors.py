"""The errors that this package raises on purpose, as one tree.

* `EmuError`
    * `ConfigError`: the configuration is wrong; carries every problem
    * `StoreError`: a database cannot be opened, is damaged, or is newer than this program
        * `DuplicateName`: a name that must be unique is taken
        * `OutOfDate`: another process has stored a newer state
        * `StoreLocked`: another program is writing
        * `StoreAway`: the database's server cannot be reached, or does not answer
    * `FileFormatError`: an operator's file (dump, capture, XML, CSV, TOML) cannot be used
    * `ScriptError`: a Lua script cannot be loaded, or a call of it has failed
        * `ScriptLimitError`: one call of a script needed too much time, memory or depth
    * `CommandError`: an operator's request cannot be carried out
    * `Unanswered`: no process answers a request, or none in time
    * `UnknownVersion`: no opcode range covers a client version
    * `UnknownOpcode`: a table has no number for a name
    * `UnknownStruct`: no layout of that name at that version
    * `UnknownBase`: a delta without its baseline
    * `StructValueError`: a value does not fit the field it was given for
    * `ProtocolError`
        * `LocalProtocolError`: our side requested something that the protocol does not allow now
        * `PeerError`: the peer sent something wrong; `reason` names the counter
            * `MalformedDatagram`, `BadChecksum`, `LimitExceeded`
            * `MalformedMessage`
                * `MalformedStruct`: says where, and what was decoded before

`str(error)` is one line for operators, except for a `ProtocolError`: the place, the fault and the
cure. This module must not import any other of the package.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any, Final


def visible(text: str) -> str:
    """Return a text as one printable line: errors quote files and network data."""
    if text.isprintable():
        return text
    # U+FFFD marks the place, so that nobody mistakes the text for the original.
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


class EmuError(Exception):
    """Base of all errors of this package."""

    def __str__(self) -> str:
        return visible(super().__str__())


class ConfigError(EmuError):
    """The configuration cannot be used.

    `problems` has a line for each fault, with its key.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(map(visible, problems))
        super().__init__("; ".join(self.problems))


class StoreError(EmuError):
    """A database cannot be opened, is damaged, or was written by a newer program."""


class DuplicateName(StoreError):
    """A name that must be unique is taken."""


class OutOfDate(StoreError):
    """The state to store is not the newest: another process has stored a newer one."""


class StoreLocked(StoreError):
    """Another program is writing to the database and did not end in time."""


class StoreAway(StoreError):
    """The database's server cannot be reached or does not answer; a change may still be stored."""


STORE_FAULT = "the server cannot read or store that now; try again later"
"""What players see of a database's fault."""


def public_text(error: EmuError) -> str:
    """Return the text of an error for people who do not operate the server.

    The text of a database's fault has the database's place: a file, or an address and a user.
    """
    if not isinstance(error, StoreError):
        return str(error)
    # Without a cause it is an error of our own, such as a guild's name that is taken.
    is_known = isinstance(error, DuplicateName | OutOfDate) and error.__cause__ is None
    return str(error) if is_known else STORE_FAULT


class FileFormatError(EmuError):
    """A file does not have the expected format.

    `place` is the place in the file (for instance ``"line 12"``), if it is known. `problems` has a
    line for each fault, if several are known; otherwise the error's own line.
    """

    def __init__(
        self, message: str, *, place: str | None = None, problems: Sequence[str] = ()
    ) -> None:
        self.place = place
        super().__init__(f"{place}: {message}" if place else message)
        self.problems = tuple(map(visible, problems)) or (str(self),)


class ScriptError(EmuError):
    """A Lua script cannot be loaded, or a call of it has failed.

    `path` is the file relative to the scripts' folder, `line` the line in it, 0 if it is unknown.
    """

    def __init__(self, path: str, line: int, text: str) -> None:
        self.path = path
        self.line = line
        self.text = visible(text)
        super().__init__(f"{path}:{line}: {text}" if line else f"{path}: {text}")


class ScriptLimitError(ScriptError):
    """A call of a Lua script needed more time, memory or depth than one call may."""


class CommandError(EmuError):
    """An operator's request cannot be carried out; the text says why, and what would work."""


class Unanswered(EmuError):
    """No process answers a request, or none in time."""


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
    """A value does not fit its field; the text names struct and field."""


_WITHOUT_NAME: Final = (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF)
"""Errors of reading and writing, as opposed to opening."""


def unusable(error: OSError) -> str:
    """Return the line about a file or folder that the system refuses.

    The system names none when it refuses bytes for a file that is open already.
    """
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in _WITHOUT_NAME and not where:
        where = "the output or an open file: "
    hint = "; run this as its owner" if isinstance(error, PermissionError) else ""
    return f"{where}cannot be used ({error.strerror or error}){hint}"


class ProtocolError(EmuError):
    """A violation of the network protocol."""


class LocalProtocolError(ProtocolError):
    """Our side requested something that the protocol does not allow now."""


class PeerError(ProtocolError):
    """The peer sent something wrong.

    `reason` is a short fixed text without data of the peer; drops are counted by it.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class MalformedDatagram(PeerError):
    """A datagram or protocol packet that does not fit its opcode."""


class BadChecksum(PeerError):
    """A datagram whose CRC does not match its bytes and the session's key."""


class MalformedMessage(PeerError):
    """An application message that does not fit its layout."""


class MalformedStruct(MalformedMessage):
    """A message that does not fit its struct.

    `struct` is the name and first version of the struct. `field` is the path of the field that
    cannot be decoded (``items[2].text``; empty if bytes follow the last field), and `offset` the
    index of its first byte. `values` has the fields before it.
    """

    def __init__(self, reason: str, field: str = "", offset: int = 0) -> None:
        super().__init__(reason)
        self.struct = ""
        self.field = field
        self.offset = offset
        self.values: Mapping[str, Any] = {}

    def enter(self, outer: str) -> None:
        """Prefix the field's path with a name or ``[index]``, from the innermost outwards."""
        # An index follows its list without a dot.
        joined = "" if not self.field or self.field.startswith("[") else "."
        self.field = f"{outer}{joined}{self.field}"

    def __str__(self) -> str:
        names = (self.struct, self.field and f"field {self.field}", f"byte {self.offset}")
        return f"{', '.join(name for name in names if name)}: {self.reason}"


class LimitExceeded(PeerError):
    """The peer exceeded one of our named limits."""


class UnknownBase(EmuError):
    """A delta arrived whose baseline was sent before we began to listen.

    `what` names the missing baseline.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"{what} is not known")
