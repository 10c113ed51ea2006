"""The client's side of GGMP: logs in by token, sends actions, receives reports. Sans-IO."""

from __future__ import annotations

from collections import deque

from emu.admin.ggmp.acting import WHOLE_SERVER, GgmpAction, GgmpPlace
from emu.admin.ggmp.messages import (
    BIG,
    SERVER,
    ByteOrder,
    GgmpAct,
    GgmpMessage,
    GgmpMessageType,
    pull_message,
    utf8,
)
from emu.admin.ggmp.peer import WAIT, Delivery, GgmpPeer
from emu.errors import MalformedMessage
from emu.times import Monotonic


class GgmpClient:
    """One client. `lost` counts the messages that the server never acknowledged."""

    def __init__(self, wait: float = WAIT, order: ByteOrder = BIG, number: int = SERVER) -> None:
        """`number` is for a static client, which the server knows without a login."""
        self._peer = GgmpPeer(number, wait, order)
        self._deliveries: deque[Delivery] = deque()

    @property
    def id(self) -> int:
        """The number that the server assigned; 0 before."""
        return self._peer.own

    @property
    def lost(self) -> int:
        """Messages that the server never acknowledged."""
        return self._peer.lost

    def join(self, token: str, now: Monotonic) -> None:
        """Log in with a token, or an empty one; the server assigns a number."""
        self._peer.send_values(utf8(token), now=now)

    def query(self, actor: int, now: Monotonic) -> None:
        """Request the state of an actor; 0 requests the server's status."""
        self._peer.send_act(GgmpAct(actor, GgmpAction.QUERY), now=now)

    def query_named(self, name: str, now: Monotonic) -> None:
        """Request the state of an actor by its name."""
        self._peer.send_act(GgmpAct(WHOLE_SERVER, GgmpAction.QUERY), name.encode(), now=now)

    def query_zone(self, zone: int, now: Monotonic) -> None:
        """Request the actors of a zone."""
        self._peer.send_act(GgmpAct(WHOLE_SERVER, GgmpAction.QUERY, zone), now=now)

    def watch(self, actor: int, interval: float, now: Monotonic) -> None:
        """Watch an actor: get its state every `interval` seconds at most; 0 ends that."""
        milliseconds = round(interval * 1000)
        self._peer.send_act(
            GgmpAct(actor, GgmpAction.WATCH, int(milliseconds > 0), milliseconds), now=now
        )

    def say(self, actor: int, text: str, now: Monotonic) -> None:
        """Let an actor speak."""
        self._peer.send_act(GgmpAct(actor, GgmpAction.SAY), text.encode(), now=now)

    def move(self, actor: int, place: GgmpPlace, now: Monotonic) -> None:
        """Move an actor."""
        self._peer.send_act(
            GgmpAct(actor, GgmpAction.MOVE), self._peer.order.place.pack(*place), now=now
        )

    def data_to_send(self) -> list[bytes]:
        """Return and clear the datagrams to send."""
        return self._peer.data_to_send()

    def receive(self, data: bytes, now: Monotonic) -> None:
        """Handle a datagram from the server. Raises `MalformedMessage` if it is no message."""
        message: GgmpMessage = pull_message(data, self._peer.order)
        if message.kind is GgmpMessageType.CLIENT_ASSIGN:
            # From here on all messages have this number.
            self._peer.own = message.client
        elif message.client != SERVER:
            raise MalformedMessage("not of the server")
        else:
            # Deliveries wait here, because one datagram can complete several.
            self._deliveries += self._peer.receive(message, now)

    def next_delivery(self) -> Delivery | None:
        """Return the oldest delivery of the server, or None."""
        return self._deliveries.popleft() if self._deliveries else None

    def get_timer(self) -> Monotonic | None:
        """Return the time at which `handle_timer` must be called, or None."""
        return self._peer.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Retransmit what was not acknowledged."""
        self._peer.handle_timer(now)

    def listed_actors(self, data: bytes) -> list[int]:
        """Return the actors of a zone from the server's list."""
        return self._peer.order.pull_actors(data)
