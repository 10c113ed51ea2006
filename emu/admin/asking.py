"""The asking side of the query protocols: what a question is to whoever carries its datagrams."""

from __future__ import annotations

from typing import Protocol


class Question(Protocol):
    """One question to a server, from the first datagram to the last of its answer.

    The carrier sends `datagram`, and again when nothing comes; every datagram that comes goes to
    `receive`, until `is_answered`.
    """

    @property
    def is_answered(self) -> bool:
        """Whether all is there."""

    def datagram(self) -> bytes:
        """Return what is to be sent now."""

    def receive(self, data: bytes) -> bool:
        """Take a datagram; True when there is something else to send now.

        Raises `MalformedMessage` for what is no answer, which is best ignored, and `CommandError`
        when the server refuses.
        """
