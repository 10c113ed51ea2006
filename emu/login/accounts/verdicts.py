"""What may come of a login request."""

from __future__ import annotations

from dataclasses import dataclass

from emu.model import Account


@dataclass(frozen=True, slots=True)
class Admitted:
    """The name and password were right and the account may log in."""

    account: Account


@dataclass(frozen=True, slots=True)
class Refused:
    """A login is refused.

    `reason` is one of ``bad password``, ``no such account``, ``disabled``, ``banned``,
    ``address banned``, ``name not allowed``, ``too many attempts``, ``busy``.
    """

    reason: str
