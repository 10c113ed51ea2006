"""Asks a server by SSQ."""

from __future__ import annotations

import re

from emu.admin.ssq.packets import MOST_PACKETS, Joiner, Packet, pull_packet, push_packet
from emu.admin.ssq.rows import PONG, pull_rows
from emu.errors import CommandError, MalformedDatagram, MalformedMessage
from emu.times import Monotonic

_FORM = re.compile(r"\s+headers\s+(normal|compact|null)\s*$", re.IGNORECASE)
PONG_HEADER = ["j"]
"""The only row of an answer to a ping."""
LONGEST_ANSWER = MOST_PACKETS * 65535
"""Bytes of an answer: whatever the server takes for a datagram."""


class SsqQuestion:
    """One question; `rows` is the answer's table, the header row first, once it is there.

    The header row and no more means that nothing fits; no row at all is never answered. A row
    without cells is how servers say that they do not understand, or have none of what was asked.
    """

    def __init__(self, packet_id: int, text: str) -> None:
        """Ask `text`; `packet_id` is 0 to 255, different for each question."""
        self._id = packet_id
        self._text = text.encode()
        self._joiner = Joiner(most_bytes=LONGEST_ANSWER, most_pending=1)
        self.rows: list[list[str]] | None = None

    @property
    def is_answered(self) -> bool:
        """Whether the answer is there."""
        return self.rows is not None

    def datagram(self) -> bytes:
        """Return the question."""
        return push_packet(Packet(self._id, 1, 0, self._text))

    def receive(self, data: bytes) -> bool:
        """Take a datagram; False, as there is never anything else to send.

        Raises `MalformedMessage` for what is no answer to this.
        """
        try:
            packet = pull_packet(data)
        except MalformedDatagram as error:
            raise MalformedMessage(error.reason) from None
        if packet.id != self._id:
            raise MalformedMessage("answer to something else")
        body = self._joiner.take(None, packet, Monotonic(0.0))
        if body is not None:
            self.rows = [PONG_HEADER] if body == PONG else pull_rows(body)
        return False


def auth_question(packet_id: int, password: str) -> SsqQuestion:
    """Ask for a token."""
    return SsqQuestion(packet_id, f"AUTH {password}")


def token_of(rows: list[list[str]]) -> str:
    """Return the token of an answer. Raises `CommandError` when there is none."""
    if len(rows) != 2 or rows[0] != ["token"] or not rows[1] or not rows[1][0]:
        raise CommandError("the server does not take this password")
    return rows[1][0]


def with_token(text: str, token: str) -> str:
    """Return a selection that shows a token; other questions as they are.

    IDENTIFIED stands ahead of HEADERS.
    """
    if not text.lstrip().lower().startswith("select"):
        return text
    form = _FORM.search(text)
    end = form.start() if form is not None else len(text)
    return f"{text[:end]} IDENTIFIED {token}{text[end:]}"
