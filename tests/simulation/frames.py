"""Clients that act once a frame, as games do: what arrives in one frame has one answer."""

from __future__ import annotations

from typing import Any

from emu.net.client.world_connection import ClientWorldConnection

FRAME = 1 / 30
"""Seconds from a datagram to the end of the frame in which its client answers."""


class FramedConnection(ClientWorldConnection):
    """A client of a world that answers all datagrams of a frame together, with one Ack."""

    def __init__(self, *values: Any, **options: Any) -> None:
        super().__init__(*values, **options)
        self._is_planned = False

    def received(self, socket: Any, datagram: bytes) -> None:
        """Read a datagram, and answer at the end of the frame."""
        if socket is not self._socket:
            return
        self.core.receive_datagram(datagram, self.now())
        if not self._is_planned:
            self._is_planned = True
            self._reactor.callLater(FRAME, self._end_frame)

    def _end_frame(self) -> None:
        self._is_planned = False
        if self._socket is not None:
            self._turn(self.now())
