"""An RCON connection as the command line uses it: log in, then one line, one answer."""

from __future__ import annotations

import socket
from typing import Self

from emu.admin.rcon import RconClient
from emu.admin.rcon.client import Answered, LoginAnswered
from emu.config import Address
from emu.errors import CommandError, PeerError

CHUNK = 65536


class RconSocket:
    """A connection on which a password was accepted; a context manager."""

    def __init__(self, address: Address, password: str, timeout: float) -> None:
        """Connect and log in; `timeout` is seconds for each step. Raises `CommandError`."""
        self._client = RconClient()
        self._address = address
        try:
            self._socket = socket.create_connection((address.host, address.port), timeout)
        except OSError as error:
            raise CommandError(
                f"{address}: cannot connect ({error.strerror or error}); is RCON open there?"
            ) from None
        try:
            self._log_in(password)
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def run(self, line: str) -> str:
        """Run a line and return its whole answer. Raises `CommandError`."""
        event = self._exchange(self._client.command(line))
        if isinstance(event, Answered):
            return event.text
        raise CommandError(f"{self._address}: the server wants the password again")

    def _log_in(self, password: str) -> None:
        event = self._exchange(self._client.log_in(password))
        if not isinstance(event, LoginAnswered) or not event.ok:
            raise CommandError(f"{self._address}: the password is refused")

    def _exchange(self, data: bytes) -> LoginAnswered | Answered:
        try:
            self._socket.sendall(data)
            while received := self._socket.recv(CHUNK):
                if events := self._client.receive_data(received):
                    return events[0]
        except TimeoutError:
            raise CommandError(f"{self._address}: no answer in time") from None
        except OSError as error:
            raise CommandError(f"{self._address}: {error.strerror}") from None
        except PeerError as error:
            raise CommandError(f"{self._address}: {error.reason}; is that RCON?") from None
        raise CommandError(f"{self._address}: the server has closed the connection")
