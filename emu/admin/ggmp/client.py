"""The client's end: shows its token, acts, and takes what the server tells. Sans-IO."""

from __future__ import annotations

from collections import deque

from emu.admin.ggmp.acting import WHOLE_SERVER, GgmpAction, Place
from emu.admin.ggmp.messages import (
    BIG,
    SERVER,
    Act,
    ByteOrder,
    GgmpMessage,
    GgmpMessageType,
    pull_message,
    utf8,
)
from emu.admin.ggmp.peer import WAIT, Delivery, Peer
from emu.errors import MalformedMessage
from emu.times import Monotonic


class GgmpClient:
    """One client. `lost` counts what the server never acknowledged."""

    def __init__(self, wait: float = WAIT, order: ByteOrder = BIG, number: int = SERVER) -> None:
        """Begin; `number` is for a client whom the server knows without joining."""
        self._peer = Peer(number, wait, order)
        self._deliveries: deque[Delivery] = deque()

    @property
    def id(self) -> int:
        """The number that the server gave; 0 before it did."""
        return self._peer.own

    @property
    def lost(self) -> int:
        """How many messages the server never acknowledged."""
        return self._peer.lost

    def join(self, token: str, now: Monotonic) -> None:
        """Show a token, or an empty one; the server gives a number for it."""
        self._peer.send_values(utf8(token), now=now)

    def query(self, actor: int, now: Monotonic) -> None:
        """Ask for the state of an actor; 0 asks how the server is."""
        self._peer.send_act(Act(actor, GgmpAction.QUERY), now=now)

    def query_named(self, name: str, now: Monotonic) -> None:
        """Ask for the state of an actor by its name."""
        self._peer.send_act(Act(WHOLE_SERVER, GgmpAction.QUERY), name.encode(), now=now)

    def query_zone(self, zone: int, now: Monotonic) -> None:
        """Ask for the actors of a zone."""
        self._peer.send_act(Act(WHOLE_SERVER, GgmpAction.QUERY, zone), now=now)

    def watch(self, actor: int, interval: float, now: Monotonic) -> None:
        """Ask to be told of an actor, every `interval` seconds at most; 0 ends that."""
        milliseconds = round(interval * 1000)
        self._peer.send_act(
            Act(actor, GgmpAction.WATCH, int(milliseconds > 0), milliseconds), now=now
        )

    def say(self, actor: int, text: str, now: Monotonic) -> None:
        """Let an actor speak."""
        self._peer.send_act(Act(actor, GgmpAction.SAY), text.encode(), now=now)

    def move(self, actor: int, place: Place, now: Monotonic) -> None:
        """Put an actor elsewhere."""
        self._peer.send_act(
            Act(actor, GgmpAction.MOVE), self._peer.order.place.pack(*place), now=now
        )

    def data_to_send(self) -> list[bytes]:
        """Return and forget the datagrams that are to be sent."""
        return self._peer.data_to_send()

    def receive(self, data: bytes, now: Monotonic) -> None:
        """Take a datagram of the server. Raises `MalformedMessage` for what is none."""
        message: GgmpMessage = pull_message(data, self._peer.order)
        if message.kind is GgmpMessageType.CLIENT_ASSIGN:
            self._peer.own = message.client
        elif message.client != SERVER:
            raise MalformedMessage("not of the server")
        else:
            self._deliveries += self._peer.receive(message, now)

    def next_delivery(self) -> Delivery | None:
        """Return what the server told, the oldest first."""
        return self._deliveries.popleft() if self._deliveries else None

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        return self._peer.get_timer()

    def handle_timer(self, now: Monotonic) -> None:
        """Send again what was not acknowledged."""
        self._peer.handle_timer(now)

    def listed_actors(self, data: bytes) -> list[int]:
        """Return the actors of a zone from the data that the server sent for them."""
        return self._peer.order.pull_actors(data)
