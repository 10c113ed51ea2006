"""The socket of the running server's console, for commands that ask or notify the server."""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager
from pathlib import Path

from emu.admin.console import ConsoleClient
from emu.commands import Reply
from emu.errors import CommandError, PeerError

CHUNK = 65536


class NoServer(CommandError):
    """No server is listening at a local socket."""


class ConsoleSocket(AbstractContextManager["ConsoleSocket"]):
    """An open console; a context manager."""

    def __init__(self, path: Path, timeout: float | None = None) -> None:
        """Connect; wait at most `timeout` seconds for a server's answer.

        Raises `NoServer` if no server listens there, `CommandError` if the socket is another
        user's.
        """
        self._client = ConsoleClient()
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(timeout)
            self._socket.connect(str(path))
        except PermissionError:
            self._socket.close()
            raise CommandError(
                f"{path}: belongs to another user; run this as the server's user or as root"
            ) from None
        except OSError as error:
            self._socket.close()
            raise NoServer(
                f"{path}: no server can be reached ({error.strerror or error}); is it"
                " running, with this database, and are you its user?"
            ) from None

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def run(self, line: str) -> Reply:
        """Run a line and return its reply. Raises `CommandError` if the connection ends."""
        try:
            self._socket.sendall(self._client.request(line))
            while data := self._socket.recv(CHUNK):
                if replies := self._client.receive_data(data):
                    return replies[0]
        except TimeoutError:
            raise CommandError(f"{self._path}: the server does not answer") from None
        except OSError as error:
            raise CommandError(f"{self._path}: {error.strerror}") from None
        except PeerError as error:
            raise CommandError(f"{self._path}: {error.reason}; is another program there?") from None
        raise CommandError("the server has closed the console")
