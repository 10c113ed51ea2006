"""Which reply code tells a player why the login is refused (docs/protocol/login.md#reply-codes).

The client has no code for a server in trouble or too busy. It calls every code that it does not
know an unknown reason, which is true and, unlike "bad password", has nobody change the password.
"""

from __future__ import annotations

from emu.model import LoginCode

_CODES = {
    "bad password": LoginCode.BAD_NAME_OR_PASSWORD,
    "no such account": LoginCode.BAD_NAME_OR_PASSWORD,
    "name not allowed": LoginCode.BAD_NAME_OR_PASSWORD,
    "banned": LoginCode.NO_PLAY_TIME,
    "disabled": LoginCode.LACKS_FEATURES,
    "address banned": LoginCode.LACKS_FEATURES,
}


def code_of(reason: str) -> int:
    """Return the code of a reason of `Refused`; any other is an unknown reason."""
    return _CODES.get(reason, LoginCode.UNKNOWN_REASON)
