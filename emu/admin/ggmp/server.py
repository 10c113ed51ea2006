"""Lets clients in, knows each by its number and address, and hands on what they ask.

Who shows a token is given a number, which is good for its address until it is silent for a minute;
so is anybody where that is wanted, and known clients have theirs from elsewhere. Nobody else is
answered. Source: docs/protocol/administration/ggmp.md#joining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from emu.admin.ggmp.acting import SHORTEST_INTERVAL, Acting, Seat
from emu.admin.ggmp.door import Door
from emu.admin.ggmp.grants import Action, Grant, StaticClient
from emu.admin.ggmp.messages import (
    MOST_CLIENTS,
    SERVER,
    Kind,
    Message,
    pull_message,
    push_message,
)
from emu.admin.ggmp.peer import Peer
from emu.admin.ggmp.ports import Stage
from emu.admin.ggmp.rules import GgmpRules
from emu.admin.ggmp.transfers import Whole
from emu.commands import Use
from emu.errors import MalformedMessage
from emu.limits.addresses import address_key
from emu.limits.answers import AnswerRules
from emu.limits.throttle import Allowance, Throttle
from emu.times import Monotonic

ANSWER_RULES: Final = AnswerRules(
    address_burst=400, address_rate=200.0, share_burst=5000.0, share_rate=5000.0
)
"""How many messages an endpoint takes."""
ASSIGNMENTS: Final = Allowance(burst=4, refill=1.0)
"""Numbers told to one address."""
REPETITIONS: Final = 1.0
"""Seconds after which a token that is shown again is no repetition: the client has begun anew."""
MOST_HELD: Final = 8
"""Acts kept for a client that has not shown its number yet."""

_Address = tuple[str, int]


class GgmpServer:
    """The server's end for all clients; a `emu.net.udp.query.QueryCore` that also has a timer."""

    def __init__(
        self,
        stage: Stage,
        rules: GgmpRules,
        random_below: Callable[[int], int],
        told: Callable[[Use], None] = lambda _use: None,
    ) -> None:
        """Act on `stage`; `told` hears of all that is done there.

        `random_below` chooses a number from 0 to its argument less one that nobody can guess.
        """
        self.rules = rules
        self._door = Door(rules)
        self.logins = self._door.logins
        """Tokens that were shown by newcomers, by result."""
        self._random_below = random_below
        self._acting = Acting(stage, told)
        self._by_id: dict[int, Seat] = {}
        self._by_address: dict[_Address, Seat] = {}
        self._last_id = 0
        self._assignments = Throttle(ASSIGNMENTS, most_keys=10_000)
        self._due: Monotonic | None = None
        self._outgoing: list[tuple[bytes, _Address]] = []
        self.counters: Counter[str] = Counter()
        """Messages by what became of them."""

    def __len__(self) -> int:
        return len(self._by_id)

    def configure(self, rules: GgmpRules) -> None:
        """Go on with other rules; who may no longer be here is forgotten at once."""
        self.rules = self._door.rules = rules
        for seat in list(self._by_id.values()):
            grant = self._door.grant_again(seat)
            if grant is None:
                self._forget(seat)
                continue
            seat.grant = grant
            if Action.WATCH not in grant.actions:
                seat.watched.clear()

    def validates(self, data: bytes, address: _Address, _now: Monotonic) -> bool:
        """Say whether a datagram shows a token, or a number that its address was given."""
        try:
            message = pull_message(data, self.rules.order)
        except MalformedMessage:
            return False
        if message.client == SERVER:
            return self._door.shows_token(message)
        seat = self._by_id.get(message.client)
        if seat is not None and seat.address == address:
            return True
        return self._door.known(message.client, address[0]) is not None

    def answer(self, data: bytes, address: _Address, now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no message of a client."""
        try:
            message = pull_message(data, self.rules.order)
        except MalformedMessage as error:
            return self._silence(error.reason)
        if message.client == SERVER:
            return self._newcomer(message, address, now)
        seat = self._by_id.get(message.client)
        if seat is None or seat.address != address:
            static = self._door.known(message.client, address[0])
            if static is None:
                return self._silence("wrong address")
            seat = self._seat_static(static, address, now)
        if not seat.is_validated:
            self._prove(seat, now)
        return self._take(seat, message, now)

    def data_to_send(self) -> list[tuple[bytes, _Address]]:
        """Return and forget what the timer wants sent, each with where to."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called; never later than something is due."""
        return self._due

    def handle_timer(self, now: Monotonic) -> None:
        """Repeat what is not acknowledged, tell of what is watched, forget who is gone."""
        self._due = None
        for seat in list(self._by_id.values()):
            if now - seat.heard > self.rules.silence:
                self._forget(seat)
                continue
            seat.peer.handle_timer(now)
            self._acting.report(seat, now)
            self._outgoing += [(data, seat.address) for data in seat.peer.data_to_send()]
            self._arm(seat)

    # -- who is let in --------------------------------------------------------------------------

    def _newcomer(self, message: Message, address: _Address, now: Monotonic) -> list[bytes]:
        """Take a message of somebody without a number; one who has it is told again."""
        if message.kind in (Kind.ACK, Kind.CLIENT_ASSIGN, Kind.ACTION_SHORT):
            return self._silence("no number")
        seat = self._by_address.get(address)
        if seat is None:
            grant = self._door.grant(message, address[0], now)
            if grant is None:
                return self._silence("refused")
            if not self._makes_room():
                return self._silence("full")
            seat = self._seat(self._new_id(grant), grant, address, now)
            seat.is_validated = bool(grant.token)
        elif message.values and now - seat.since > REPETITIONS:
            self._begin_anew(seat, now)
        answers = self._take(seat, message, now)
        if not self._assignments.take(address_key(address[0]), now):
            return answers
        assign = Message(Kind.CLIENT_ASSIGN, seat.id, message.id)
        return [push_message(assign, self.rules.order), *answers]

    def _seat_static(self, static: StaticClient, address: _Address, now: Monotonic) -> Seat:
        """Take in a known client; one that asks from another port has begun anew."""
        for before in (self._by_id.get(static.number), self._by_address.get(address)):
            if before is not None and before.id in self._by_id:
                self._forget(before)
        return self._seat(static.number, static.grant, address, now)

    def _new_id(self, grant: Grant) -> int:
        """Return a free number: the next, or one that only its receiver can know."""
        number = self._last_id
        while True:
            number = (
                number % MOST_CLIENTS + 1 if grant.token else self._random_below(MOST_CLIENTS) + 1
            )
            if number not in self._by_id:
                break
        if grant.token:
            self._last_id = number
        return number

    def _makes_room(self) -> bool:
        """Say whether one more may join; who never showed its number has to go for that."""
        if len(self._by_id) < self.rules.most_clients:
            return True
        unvalidated = next((seat for seat in self._by_id.values() if not seat.is_validated), None)
        if unvalidated is not None:
            self._forget(unvalidated)
        return unvalidated is not None

    def _seat(self, number: int, grant: Grant, address: _Address, now: Monotonic) -> Seat:
        peer = Peer(SERVER, self.rules.wait, self.rules.order)
        seat = Seat(number, address, grant, peer, now, now)
        self._by_id[seat.id] = self._by_address[address] = seat
        self._arm_at(Monotonic(now + self.rules.silence + 1))
        return seat

    def _begin_anew(self, seat: Seat, now: Monotonic) -> None:
        """Forget what a client said before: its messages count from the start again."""
        self.counters["lost"] += seat.peer.lost
        seat.peer = Peer(SERVER, self.rules.wait, self.rules.order)
        seat.watched.clear()
        seat.since = now

    def _forget(self, seat: Seat) -> None:
        del self._by_id[seat.id]
        del self._by_address[seat.address]
        self.counters["lost"] += seat.peer.lost
        self.counters["gone"] += 1

    # -- what they ask --------------------------------------------------------------------------

    def _take(self, seat: Seat, message: Message, now: Monotonic) -> list[bytes]:
        seat.heard = now
        for delivery in seat.peer.receive(message, now):
            if not isinstance(delivery, Whole):
                self.counters["data without an act"] += 1
            elif seat.is_validated:
                self._perform(seat, delivery, now)
            elif len(seat.held) < MOST_HELD:
                seat.held.append(delivery)
        answers = seat.peer.data_to_send()
        # Nothing that begins now is due before this, and so a timer that is due earlier will do.
        if self._due is None or self._due > now + min(self.rules.wait, SHORTEST_INTERVAL):
            self._arm(seat)
        return answers

    def _perform(self, seat: Seat, whole: Whole, now: Monotonic) -> None:
        self.counters["acts"] += 1
        self._acting.perform(seat, whole, now)

    def _prove(self, seat: Seat, now: Monotonic) -> None:
        """Do what a client asked before it showed the number that was sent to its address."""
        seat.is_validated = True
        held, seat.held = seat.held, []
        for whole in held:
            self._perform(seat, whole, now)

    def _arm(self, seat: Seat) -> None:
        self._arm_at(Monotonic(seat.heard + self.rules.silence + 1))
        due = seat.get_timer()
        if due is not None:
            self._arm_at(due)

    def _arm_at(self, due: Monotonic) -> None:
        if self._due is None or due < self._due:
            self._due = due

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []
