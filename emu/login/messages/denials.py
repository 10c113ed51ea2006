"""Which reply code tells a player why the login is refused (docs/protocol/login.md#reply-codes).

The client has no code for a server in trouble or too busy. It calls every code that it does not
know an unknown reason, which is true and, unlike "bad password", has nobody change the password.
"""

from __future__ import annotations

BAD_NAME_OR_PASSWORD = 1
WRONG_VERSION = 6
NO_PLAY_TIME = 7
LACKS_FEATURES = 8
UNKNOWN_REASON = 9

_CODES = {
    "bad password": BAD_NAME_OR_PASSWORD,
    "no such account": BAD_NAME_OR_PASSWORD,
    "name not allowed": BAD_NAME_OR_PASSWORD,
    "banned": NO_PLAY_TIME,
    "disabled": LACKS_FEATURES,
    "address banned": LACKS_FEATURES,
}


def code_of(reason: str) -> int:
    """Return the code of a reason of `Refused`; any other is an unknown reason."""
    return _CODES.get(reason, UNKNOWN_REASON)
