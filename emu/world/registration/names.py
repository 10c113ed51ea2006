"""Which names a character may have, and the create reply codes that say why not.

Source: docs/protocol/characters.md#create-reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from emu.model import CreateCode

LEAST_LENGTH, MOST_LENGTH = 4, 15


class NameRules:
    """The length, the letters A to Z in either case, and words that no name may hold."""

    __slots__ = ("_words",)

    def __init__(self, blocked: Iterable[str] = ()) -> None:
        self._words: Sequence[str] = sorted({word.lower() for word in blocked if word})

    def reason_against(self, name: str) -> CreateCode | None:
        """Return the create reply code that refuses a name; None when the name may be used."""
        if not LEAST_LENGTH <= len(name) <= MOST_LENGTH:
            return CreateCode.BAD_NAME_LENGTH
        if not (name.isascii() and name.isalpha()):
            return CreateCode.INVALID_NAME
        lower = name.lower()
        if any(word in lower for word in self._words):
            return CreateCode.NAME_FILTER
        return None
