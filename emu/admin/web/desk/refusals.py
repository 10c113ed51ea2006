"""What is answered to a request that is turned away."""

from __future__ import annotations

from typing import Final

from emu.errors import PeerError

BAD_REQUEST: Final = 400
NOT_SIGNED_IN: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
UNSUPPORTED: Final = 415
IMPOSSIBLE: Final = 422
TOO_MANY: Final = 429
BUSY: Final = 503


class RequestRefused(PeerError):
    """A request is not carried out.

    `code` is HTTP's, `text` what the person is told, `wait` after how many seconds it is worth
    trying again (0: nobody knows).
    """

    def __init__(self, code: int, reason: str, text: str, *, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.code = code
        self.text = text
        self.wait = wait
