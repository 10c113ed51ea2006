"""What RCON's port tells: who came and who guessed; what is done, the commands tell themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UserCame:
    """A user has logged in."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class WrongPassword:
    """A password was wrong."""

    address: str


RconEvent = UserCame | WrongPassword
