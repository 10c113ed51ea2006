"""Tells OGP master servers, now and then, that this server is there.

Source: docs/protocol/administration/ogp.md#decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from emu.admin.ogp.responder import master_uplink
from emu.config import Address
from emu.errors import ConfigError
from emu.net.hosts import listen_address
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler

INTERVAL: Final = 300.0
"""Seconds between two uplinks; the text says none."""

_log = logger("query")


class MasterUplink:
    """Tells masters where the server is asked: the port that they are told from."""

    def __init__(
        self,
        send: Callable[[bytes, tuple[str, int]], object],
        masters: Sequence[Address],
        game_id: int,
        scheduler: Scheduler,
    ) -> None:
        """Look the masters' names up, once; one without an address is told of and left out.

        `send` is that of the port's shell.
        """
        self._send_to = send
        self._datagram = master_uplink(game_id)
        self._scheduler = scheduler
        self._call: DelayedCall | None = None
        self._masters = []
        for master in masters:
            try:
                self._masters.append(listen_address("ogp.masters", master))
            except ConfigError as error:
                _log.warn("{error}", error=str(error))

    def start(self) -> None:
        """Send at once, and again until `stop`."""
        self._send()
        self._call = self._scheduler.every(INTERVAL, self._send)

    def stop(self) -> None:
        """Send no more."""
        if self._call is not None:
            self._call.cancel()

    def _send(self) -> None:
        for master in self._masters:
            self._send_to(self._datagram, (master.host, master.port))
