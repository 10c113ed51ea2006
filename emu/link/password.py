"""The password of a link: how it travels, how it is kept, how it is compared.

The link carries the SHA-512 of the password as 128 lower-case hex digits
(docs/protocol/link.md#registration), and exactly that is what the login server keeps. An empty or
shortened stored value never matches; EQ2Emulator compares only as many characters as are stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re

_HASH = re.compile(r"[0-9a-f]{128}")


def hash_link_password(password: str) -> str:
    """Return what the link sends and the store keeps for `password`: 128 lower-case hex digits."""
    return hashlib.sha512(password.encode()).hexdigest()


def is_link_hash(text: str) -> bool:
    """Say whether `text` has the shape of a link password: 128 hex digits, any case."""
    return _HASH.fullmatch(text.lower()) is not None


def link_password_matches(stored: str, sent: str) -> bool:
    """Compare a stored hash with the one a world sent, in full and in constant time.

    Both are 128 hex digits in any case; anything else on either side never matches.
    """
    if not is_link_hash(stored) or not is_link_hash(sent):
        return False
    return hmac.compare_digest(stored.lower().encode(), sent.lower().encode())
