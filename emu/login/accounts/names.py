"""Which account names are allowed, and how they are written.

EQ2Emulator copies names into 32 bytes without looking (docs/protocol/login.md#account): longer ones
are refused here, never cut.
"""

from __future__ import annotations

import unicodedata

MAX_NAME = 31
"""Longest account name in bytes of UTF-8."""

_REFUSED = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def account_name(text: str) -> str:
    """Return a name without spaces around it and in Unicode's composed form (NFC).

    Raises `ValueError` saying what is wrong when it is empty, longer than `MAX_NAME` bytes, or has
    characters that cannot be seen.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise ValueError("a name must not be empty")
    if not _REFUSED.isdisjoint(map(unicodedata.category, name)):
        raise ValueError("a name must not have characters that cannot be seen")
    if len(name.encode()) > MAX_NAME:
        raise ValueError(f"a name must not be longer than {MAX_NAME} bytes")
    return name
