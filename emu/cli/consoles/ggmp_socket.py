"""A conversation by GGMP on a blocking UDP socket, for one command."""

from __future__ import annotations

import socket
from contextlib import AbstractContextManager
from typing import Any

from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import SERVER
from emu.admin.ggmp.orders import BIG, ByteOrder
from emu.admin.ggmp.peer import Delivery
from emu.cli.moments import passing
from emu.config import Address
from emu.errors import CommandError, MalformedMessage
from emu.times import Monotonic

LONGEST = 2048
"""Bytes of a datagram; no message is as long."""


class NothingListens(CommandError):
    """Where a name leads, nobody is at this port."""


class GgmpSocket(AbstractContextManager["GgmpSocket"]):
    """A client that has joined; ask by `client`, take by `next_delivery`."""

    def __init__(
        self, address: Address, token: str, patience: float,
        *, order: ByteOrder = BIG, number: int = SERVER,
    ) -> None:  # fmt: skip
        """Join, unless the server knows us by a number.

        Raises `CommandError` when nobody lets us in for `patience` seconds.
        """
        self._address = address
        self._patience = patience
        try:
            places = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
        except OSError as error:
            raise CommandError(f"{address} cannot be reached ({error.strerror})") from None
        for family, _, _, _, place in places:
            self.client = GgmpClient(0.2, order, number)
            try:
                self._open(family, place, token)
            except NothingListens:
                if place is places[-1][4]:
                    raise
            else:
                return

    def _open(self, family: int, place: Any, token: str) -> None:
        """Join at one of the addresses that a name has."""
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.connect(place)
            if not self.client.id:
                self._join(token)
        except OSError as error:
            self._socket.close()
            raise CommandError(f"{self._address} cannot be reached ({error.strerror})") from None
        except CommandError:
            self._socket.close()
            raise

    def __exit__(self, *_error: object) -> None:
        self._socket.close()

    @property
    def now(self) -> Monotonic:
        """The time that paces the conversation."""
        return passing()

    def expect(self) -> Delivery:
        """Return what the server tells next. Raises `CommandError` when it tells nothing."""
        told = self.next_delivery(Monotonic(self.now + self._patience))
        if told is None:
            raise CommandError(f"{self._address} does not answer")
        return told

    def next_delivery(self, until: Monotonic) -> Delivery | None:
        """Return what the server tells next, None when it tells nothing until then."""
        while (told := self.client.next_delivery()) is None:
            if self.now >= until:
                return None
            self._turn(until)
        return told

    def _join(self, token: str) -> None:
        until = Monotonic(self.now + self._patience)
        self.client.join(token, self.now)
        while not self.client.id:
            if self.now >= until:
                raise CommandError(
                    f"{self._address} lets us not in: nobody speaks GGMP there, or not to this"
                    " token, or not from this address"
                )
            if self.client.lost:
                self.client.join(token, self.now)
            self._turn(until)

    def _turn(self, until: Monotonic) -> None:
        """Send what is due, and take one datagram if one comes before something else is due."""
        self.client.handle_timer(self.now)
        due = self.client.get_timer()
        wait = (until if due is None else min(until, due)) - self.now
        try:
            for data in self.client.data_to_send():
                self._socket.send(data)
            self._socket.settimeout(max(wait, 0.001))
            self.client.receive(self._socket.recv(LONGEST), self.now)
            for data in self.client.data_to_send():  # what we acknowledge
                self._socket.send(data)
        except (TimeoutError, MalformedMessage):
            return
        except ConnectionRefusedError:
            raise NothingListens(f"nothing listens on UDP {self._address}") from None
        except OSError as error:
            raise CommandError(f"{self._address}: {error.strerror}") from None
