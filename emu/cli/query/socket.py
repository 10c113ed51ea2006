"""Carries a question's datagrams to a server and back; for commands, which wait."""

from __future__ import annotations

import socket
from typing import Final

from emu.admin.asking import Question
from emu.cli.moments import passing
from emu.config import Address
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic

TRIES: Final = 3
"""How often a datagram is sent that nothing answers."""
PATIENCE: Final = 3.0
"""Seconds to wait for an answer, by default."""
_LONGEST: Final = 65535


def ask(address: Address, question: Question, patience: float) -> None:
    """Ask until the question is answered; what is lost is sent again.

    Raises `CommandError` when nothing comes within `patience` seconds, or the server refuses.
    """
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(found[0], socket.SOCK_DGRAM) as asker:
            asker.connect(found[4])
            for _ in range(TRIES):
                asker.send(question.datagram())
                if _listen(asker, question, patience / TRIES):
                    return
    except ConnectionRefusedError:
        raise CommandError(f"nothing listens on UDP {address}") from None
    except OSError as error:
        raise CommandError(f"{address} cannot be reached ({error.strerror})") from None
    raise CommandError(f"{address} does not answer")


def _listen(asker: socket.socket, question: Question, wait: float) -> bool:
    """Take datagrams until all is there, or nothing of use has come for so long."""
    until = Monotonic(passing() + wait)
    while not question.is_answered and (left := until - passing()) > 0:
        asker.settimeout(left)
        try:
            goes_on = question.receive(asker.recv(_LONGEST))
        except (TimeoutError, MalformedMessage):
            continue
        if goes_on:
            asker.send(question.datagram())
            until = Monotonic(passing() + wait)
    return question.is_answered
