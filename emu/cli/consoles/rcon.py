"""`emu rcon`: commands on any server with Source RCON."""

from __future__ import annotations

import json
import select
import socket
import sys
from contextlib import AbstractContextManager

import click

from emu.admin.rcon import Answered, LoginAnswered, RconClient
from emu.cli.client.common import address_argument, timeout_option
from emu.cli.consoles.admin import CommandAnswer, command_line, converse
from emu.cli.options import given_password, password_option
from emu.cli.tables import line_format_option, printable
from emu.config import Address
from emu.errors import CommandError, EmuError, PeerError

CHUNK = 65536
NEXT_PACKET = 2.0
"""Seconds after the first packet of an answer until its next packet or its end."""


class RconSocket(AbstractContextManager["RconSocket"]):
    """A logged-in connection; a context manager."""

    def __init__(self, address: Address, password: str, timeout: float) -> None:
        """Connect and log in; `timeout` is in seconds for each step. Raises `CommandError`."""
        self._address = address
        self._password = password
        self._timeout = timeout
        self._connect()

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    def run(self, line: str) -> str:
        """Run a line and return its whole answer. Raises `CommandError`.

        Reconnects if the last command failed, or the server has closed the idle connection since.
        """
        if self._is_closed():
            self._socket.close()
            self._connect()
        data = self._client.command(line)
        try:
            event = self._exchange(data)
        except CommandError:
            self._socket.close()  # a late answer would be mistaken for the next command's
            raise
        if isinstance(event, Answered):
            return event.text
        raise CommandError(f"{self._address}: the server wants the password again")

    def _connect(self) -> None:
        address = self._address
        self._client = RconClient()
        try:
            self._socket = socket.create_connection((address.host, address.port), self._timeout)
        except OSError as error:
            raise CommandError(
                f"{address}: cannot connect ({error.strerror or error}); is RCON open there?"
            ) from None
        try:
            self._log_in()
        except BaseException:
            # This also closes the socket after Ctrl-C.
            self._socket.close()
            raise

    def _log_in(self) -> None:
        event = self._exchange(self._client.log_in(self._password))
        if not isinstance(event, LoginAnswered) or not event.ok:
            raise CommandError(f"{self._address}: the server refuses the password")

    def _is_closed(self) -> bool:
        """Return whether either side has closed the connection."""
        # This side has closed it after an error.
        if self._socket.fileno() < 0:
            return True
        # An open connection without an answer on its way has nothing to read.
        if not select.select([self._socket], [], [], 0)[0]:
            return False
        try:
            # Only peeked at, because data would belong to an answer.
            return not self._socket.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _exchange(self, data: bytes) -> LoginAnswered | Answered:
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(data)
            while received := self._socket.recv(CHUNK):
                if events := self._client.receive_data(received):
                    return events[0]
                # A server may not mark the last packet of an answer; then a short silence ends
                # it.
                if self._client.has_unfinished:
                    self._socket.settimeout(min(self._timeout, NEXT_PACKET))
        except TimeoutError:
            if self._client.has_unfinished:
                return self._client.take_unfinished()
            raise CommandError(f"{self._address}: no answer in time") from None
        except OSError as error:
            raise CommandError(f"{self._address}: {error.strerror}") from None
        except PeerError as error:
            raise CommandError(f"{self._address}: {error.reason}; is that RCON?") from None
        raise CommandError(f"{self._address}: the server has closed the connection")


@click.command(context_settings={"ignore_unknown_options": True})
@line_format_option
@timeout_option(15.0, "Seconds to wait for each answer.")
@password_option
@address_argument
@click.argument("words", nargs=-1, metavar="[COMMAND...]", type=click.UNPROCESSED)
def rcon(
    address: Address,
    words: tuple[str, ...],
    password: str | None,
    timeout: float,
    style: str,
) -> None:
    """Run a command by RCON. Without a command, run lines from a prompt or a pipe.

    The password crosses the network unencrypted.

    At the prompt TAB completes commands and names, the arrow keys recall earlier lines, exit or
    Ctrl-D ends.

    Example: emu rcon 192.0.2.7:27015 status
    """
    with RconSocket(address, given_password(password), timeout) as server:

        def ask(line: str) -> CommandAnswer:
            return CommandAnswer(_shown(line, server.run(line), style=style))

        def ask_on(line: str) -> CommandAnswer:
            try:
                return ask(line)
            except EmuError as error:  # the next line reconnects
                return CommandAnswer(str(error), ok=False)

        if words:
            click.echo(ask(command_line(words)).text)
        else:
            asked = ask_on if sys.stdin.isatty() else ask
            converse(asked, f"{address}> ", lambda line: CommandAnswer(server.run(line)))


def _shown(line: str, answer: str, *, style: str) -> str:
    if style == "json":
        return json.dumps({"command": line, "answer": answer, "lines": answer.splitlines()})
    return "\n".join(printable(row) for row in answer.rstrip("\n").split("\n"))
