"""What the sessions of those who run the server ask of the shell."""

from __future__ import annotations

from dataclasses import dataclass

from emu.commands import Caller


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """A line is to be run; the session waits for its `answered` and takes no other meanwhile."""

    caller: Caller
    line: str


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """Somebody has proven to be a user."""

    name: str


@dataclass(frozen=True, slots=True)
class LoginFailed:
    """A password was wrong."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over; comes last. `reason` is a short fixed text, fit to be counted by."""

    reason: str
