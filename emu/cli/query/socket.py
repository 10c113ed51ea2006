"""Carries a question's datagrams to a server and back; for commands, which wait."""

from __future__ import annotations

import socket
from typing import Final

from emu.admin.a2s.client import A2sQuestion
from emu.admin.ogp.client import OgpQuestion
from emu.admin.ssq.client import SsqQuestion
from emu.cli.moments import passing
from emu.config import Address
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic

TRIES: Final = 3
"""How often a datagram is sent that nothing answers."""
PATIENCE: Final = 3.0
"""Seconds to wait for an answer, by default."""
_LONGEST: Final = 65535

Question = A2sQuestion | OgpQuestion | SsqQuestion
"""One question to a server, from the first datagram to the last of its answer.

Its `datagram` is sent, and again when nothing comes; every datagram that comes goes to `receive`,
which says whether there is something else to send now, until `is_answered`.
"""


def ask(address: Address, question: Question, patience: float) -> None:
    """Ask until the question is answered; what is lost is sent again.

    A name is asked at each of its addresses, as far as nothing listens there. Raises
    `CommandError` when nothing comes within `patience` seconds, or the server refuses.
    """
    try:
        for found in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM):
            with socket.socket(found[0], socket.SOCK_DGRAM) as asker:
                try:
                    asker.connect(found[4])
                    _ask(asker, address, question, patience)
                except ConnectionRefusedError:
                    continue
                return
    except OSError as error:
        raise CommandError(f"{address} cannot be reached ({error.strerror})") from None
    raise CommandError(f"nothing listens on UDP {address}")


def _ask(asker: socket.socket, address: Address, question: Question, patience: float) -> None:
    useless = 0
    for _ in range(TRIES):
        asker.send(question.datagram())
        useless += _listen(asker, question, patience / TRIES)
        if question.is_answered:
            return
    if useless:
        raise CommandError(f"{address} answers, but in another protocol")
    raise CommandError(f"{address} does not answer")


def _listen(asker: socket.socket, question: Question, wait: float) -> int:
    """Take datagrams until all is there, or nothing of use has come for so long.

    Returns how many were of no use.
    """
    until, useless = Monotonic(passing() + wait), 0
    while not question.is_answered and (left := until - passing()) > 0:
        asker.settimeout(left)
        try:
            goes_on = question.receive(asker.recv(_LONGEST))
        except TimeoutError:
            break
        except MalformedMessage:
            useless += 1
            continue
        if goes_on:
            asker.send(question.datagram())
            until = Monotonic(passing() + wait)
    return useless
