"""What the desk tells: who signed in and out; what was done, the commands tell themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Somebody has signed in."""

    name: str
    address: str
    rank: int

    @property
    def text(self) -> str:
        """Return the line of the log."""
        return f"{self.name} signed in from {self.address} with rank {self.rank}"


@dataclass(frozen=True, slots=True)
class SignInRefused:
    """Somebody was not let in. The name is left out: it may be a password in the wrong field."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class SignedOut:
    """A session is over before its time."""

    name: str
    reason: str

    @property
    def text(self) -> str:
        """Return the line of the log."""
        return f"{self.name} is signed out: {self.reason}"
