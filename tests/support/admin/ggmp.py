"""A few actors, and a server and a client joined by a link that loses datagrams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import randbelow

from emu.admin.ggmp.acting import EVERYTHING, ActorState, GgmpPlace, Grant
from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import BIG, ByteOrder
from emu.admin.ggmp.peer import Delivery
from emu.admin.ggmp.server import GgmpRules, GgmpServer
from emu.admin.status import ServerStatus
from emu.commands import Use
from emu.errors import CommandError
from emu.times import Monotonic
from tests.support.admin.worked_examples import server_status

TOKEN = "0123456789abcdef"
GRANT = Grant("radar", TOKEN, EVERYTHING)
ADDRESS = ("192.0.2.50", 4000)
GUARD, BOB = 7, 9


class FakeActors:
    """A guard that can be moved and a player who cannot."""

    def __init__(self) -> None:
        self.actors = {
            GUARD: ActorState(GUARD, "a guard", 5, GgmpPlace(1.0, 2.0, 3.0, 90.0)),
            BOB: ActorState(BOB, "Bob", 5, GgmpPlace(0.0, 0.0, 0.0, 0.0)),
        }
        self.said: list[tuple[int, str]] = []

    def status(self, now: Monotonic) -> ServerStatus:
        return server_status(taken=now)

    def find(self, actor: int) -> ActorState | None:
        return self.actors.get(actor)

    def named(self, name: str) -> ActorState | None:
        found = (actor for actor in self.actors.values() if actor.name.lower() == name.lower())
        return next(found, None)

    def inside(self, zone: int) -> Sequence[int]:
        return [actor.id for actor in self.actors.values() if actor.zone == zone]

    def move(self, actor: int, place: GgmpPlace) -> None:
        self._check(actor)
        self.actors[actor] = self.actors[actor]._replace(place=place)

    def say(self, actor: int, text: str) -> None:
        self._check(actor)
        self.said.append((actor, text))

    def _check(self, actor: int) -> None:
        if actor != GUARD:
            raise CommandError("a player acts for itself")


class Talk:
    """A client and a server; `passes` says of each datagram whether it arrives."""

    def __init__(
        self,
        grant: Grant = GRANT,
        passes: Callable[[bytes], bool] = lambda _data: True,
        order: ByteOrder = BIG,
    ) -> None:
        self.actors = FakeActors()
        self.order = order
        self.uses: list[Use] = []
        self.server = GgmpServer(
            self.actors, GgmpRules((grant,), order=order), randbelow, self.uses.append
        )
        self.client = GgmpClient(order=order)
        self.passes = passes
        self.now = Monotonic(100.0)

    def join(self, token: str = TOKEN) -> None:
        self.client.join(token, self.now)
        self.settle()

    def settle(self, seconds: float = 0.5) -> list[Delivery]:
        """Let time pass, in steps of five milliseconds; returns what the client received."""
        reported: list[Delivery] = []
        for _ in range(round(seconds / 0.005)):
            self._exchange()
            while (delivery := self.client.next_delivery()) is not None:
                reported.append(delivery)
            self.now = Monotonic(self.now + 0.005)
        return reported

    def _exchange(self) -> None:
        for end in (self.client, self.server):
            due = end.get_timer()
            if due is not None and due <= self.now:
                end.handle_timer(self.now)
        back = [data for data, _ in self.server.data_to_send()]
        for data in self.client.data_to_send():
            if self.passes(data):
                back += self.server.answer(data, ADDRESS, self.now)
        for data in back:
            if self.passes(data):
                self.client.receive(data, self.now)
