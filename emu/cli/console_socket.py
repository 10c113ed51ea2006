"""The socket of the running server's console, for commands that ask or notify the server."""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from emu.admin.console import LONGEST_TOKEN, ConsoleClient, ConsoleFile
from emu.commands import Reply
from emu.errors import CommandError, PeerError
from emu.files import read_whole

CHUNK = 65536
LOOPBACK: Final = "127.0.0.1"
_OF_ANOTHER: Final = "{path}: belongs to another user; run this as the server's user or as root"
_NOBODY: Final = (
    "{path}: no server can be reached ({reason}); is it running, with this database, and are you"
    " its user?"
)


class NoServer(CommandError):
    """No server is listening at a local socket."""


def console_file(path: Path) -> ConsoleFile | None:
    """Return port and token of a console without a UNIX socket; None if there is a socket.

    Raises `NoServer` if there is no file where no socket can be, and `CommandError` if the file is
    another user's.
    """
    try:
        if hasattr(socket, "AF_UNIX") and not path.is_file():
            return None
        found = ConsoleFile.parse(read_whole(path, LONGEST_TOKEN).decode("utf-8", "replace"))
    except PermissionError:
        raise CommandError(_OF_ANOTHER.format(path=path)) from None
    except OSError as error:
        raise NoServer(_NOBODY.format(path=path, reason=error.strerror or error)) from None
    if found is None:
        raise NoServer(_NOBODY.format(path=path, reason="it is the file of something else"))
    return found


class ConsoleSocket(AbstractContextManager["ConsoleSocket"]):
    """An open console; a context manager."""

    def __init__(self, path: Path, timeout: float | None = None) -> None:
        """Connect; wait at most `timeout` seconds for a server's answer.

        Raises `NoServer` if no server listens there, `CommandError` if the socket is another
        user's.
        """
        self._client = ConsoleClient()
        self._path = path
        file = console_file(path)
        self._socket = socket.socket() if file is not None else socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(timeout)
            if file is not None:
                self._socket.connect((LOOPBACK, file.port))
                self._socket.sendall(f"{file.token}\n".encode())
            else:
                self._socket.connect(str(path))
        except PermissionError:
            self._socket.close()
            raise CommandError(_OF_ANOTHER.format(path=path)) from None
        except OSError as error:
            self._socket.close()
            raise NoServer(_NOBODY.format(path=path, reason=error.strerror or error)) from None

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
