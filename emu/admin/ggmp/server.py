"""The GGMP server: admits clients by token or known number, and passes on what they ask.

Source: docs/protocol/administration/ggmp.md#joining.

Who shows a token is given a number, which is good for its address until it is silent for a minute;
so is anybody where that is wanted, and known clients have theirs from elsewhere. Nobody else is
answered. Source: docs/protocol/administration/ggmp.md#joining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from emu.admin.ggmp.acting import (
    SHORTEST_INTERVAL,
    Acting,
    GgmpAction,
    GgmpSubscription,
    GgmpWorld,
    Grant,
    StaticClient,
    grant_of,
)
from emu.admin.ggmp.messages import (
    BIG,
    MOST_CLIENTS,
    SERVER,
    ByteOrder,
    GgmpMessage,
    GgmpMessageType,
    pull_message,
    push_message,
)
from emu.admin.ggmp.peer import WAIT, Peer, Whole
from emu.commands import Use
from emu.errors import MalformedMessage
from emu.limits.addresses import address_key
from emu.limits.rates import Allowance, AnswerRules, Throttle
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class GgmpRules:
    """What the server does."""

    grants: Sequence[Grant] = ()
    anonymous: Grant | None = None
    """What those may do who show no token; None lets nobody in without one."""
    clients: Mapping[int, StaticClient] = field(default_factory=dict)
    """Known clients by their numbers."""
    wait: float = WAIT
    """Seconds to the first repetition of what is not acknowledged."""
    silence: float = 60.0
    """Seconds after which a client that says nothing is gone."""
    most_clients: int = 256
    order: ByteOrder = BIG

    @property
    def lets_anybody_in(self) -> bool:
        """Whether there is somebody who may join."""
        return bool(self.grants or self.clients) or self.anonymous is not None


GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong tokens of one address: five a minute."""


class GgmpAdmission:
    """Knows the rules of joining, and who guesses at tokens."""

    def __init__(self, rules: GgmpRules) -> None:
        self.rules = rules
        self.logins: Counter[str] = Counter()
        """Tokens that were shown by newcomers, by result."""
        self._guesses = Throttle(GUESSES, most_keys=10_000)

    def judge(self, message: GgmpMessage, host: str, now: Monotonic) -> Grant | None:
        """Return what the token of a message allows; None for no token and for a wrong one.

        A try pays for itself before the token is compared, and a right one gets that back: of an
        address without a try left no token is compared.
        """
        token = _shown(message)
        key = address_key(host)
        if not token or not self._guesses.take(key, now):
            return None
        grant = grant_of(self.rules.grants, token)
        if grant is not None:
            self._guesses.give_back(key, now)
        return grant

    def grant(self, message: GgmpMessage, judged: Grant | None) -> Grant | None:
        """Return what a newcomer may do, `judged` by the token that its first message has."""
        if not _shown(message):
            return self.rules.anonymous
        self.logins["refused" if judged is None else "accepted"] += 1
        return judged

    def grant_again(self, seat: GgmpSubscription) -> Grant | None:
        """Return what a client that is here may do from now on; None when it may not be here."""
        if seat.grant.token:
            return grant_of(self.rules.grants, seat.grant.token)
        static = self.rules.clients.get(seat.id)
        if static is not None and static.host == seat.address[0]:
            return static.grant
        return self.rules.anonymous

    def known(self, number: int, host: str) -> StaticClient | None:
        """Return the known client of a number, when it asks from its host."""
        static = self.rules.clients.get(number)
        return static if static is not None and static.host == host else None


def _shown(message: GgmpMessage) -> str:
    """Return the token of a message, empty when there is none."""
    return next((entry.value for entry in message.values if isinstance(entry.value, str)), "")


ANSWER_RULES: Final = AnswerRules(
    address_burst=400, address_rate=200.0, unproven_rate=1000.0,
    share_burst=5000.0, share_rate=5000.0,
)  # fmt: skip
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
        stage: GgmpWorld,
        rules: GgmpRules,
        random_below: Callable[[int], int],
        told: Callable[[Use], None] = lambda _use: None,
    ) -> None:
        """Act on `stage`; `told` hears of all that is done there.

        `random_below` chooses a number from 0 to its argument less one that nobody can guess.
        """
        self.rules = rules
        self._door = GgmpAdmission(rules)
        self.logins = self._door.logins
        """Tokens that were shown by newcomers, by result."""
        self._random_below = random_below
        self._acting = Acting(stage, told)
        self._by_id: dict[int, GgmpSubscription] = {}
        self._by_address: dict[_Address, GgmpSubscription] = {}
        self._last_id = 0
        self._assignments = Throttle(ASSIGNMENTS, most_keys=10_000)
        self._judged: tuple[bytes, _Address, Grant | None] | None = None
        """The datagram whose token `validates` has compared, and what that allows."""
        self._pulled: tuple[bytes, GgmpMessage] | None = None
        """What `validates` has read last, for `answer`, which is given the same next."""
        self._due: Monotonic | None = None
        self._outgoing: list[tuple[bytes, _Address]] = []
        self.counters: Counter[str] = Counter()
        """Messages by what became of them."""

    def __len__(self) -> int:
        return len(self._by_id)

    def configure(self, rules: GgmpRules) -> None:
        """Go on with other rules; who may no longer be here is forgotten at once."""
        self.rules = self._door.rules = rules
        self._judged = self._pulled = None
        for seat in list(self._by_id.values()):
            grant = self._door.grant_again(seat)
            if grant is None:
                self._forget(seat)
                continue
            seat.grant = grant
            if GgmpAction.WATCH not in grant.actions:
                seat.watched.clear()

    def validates(self, data: bytes, address: _Address, now: Monotonic) -> bool:
        """Say whether a datagram shows a token, or a number that its address was given.

        A token is compared as long as the address has a try left, and costs one when it is wrong;
        `answer`, given the same datagram next, compares it no second time.
        """
        self._judged = self._pulled = None
        try:
            message = pull_message(data, self.rules.order)
        except MalformedMessage:
            return False
        self._pulled = data, message
        if message.client == SERVER:
            grant = self._door.judge(message, address[0], now)
            self._judged = data, address, grant
            return grant is not None
        seat = self._by_id.get(message.client)
        if seat is not None and seat.address == address:
            return True
        return self._door.known(message.client, address[0]) is not None

    def answer(self, data: bytes, address: _Address, now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no message of a client."""
        pulled, self._pulled = self._pulled, None
        try:
            if pulled is not None and pulled[0] is data:
                message = pulled[1]
            else:
                message = pull_message(data, self.rules.order)
        except MalformedMessage as error:
            return self._silence(error.reason)
        if message.client == SERVER:
            judged, self._judged = self._judged, None
            if judged is not None and judged[:2] == (data, address):
                return self._newcomer(message, address, judged[2], now)
            grant = self._door.judge(message, address[0], now)
            return self._newcomer(message, address, grant, now)
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
        """Repeat what is not acknowledged, tell of what is watched, forget who is gone.

        A client that cannot be served is forgotten; the first mistake is raised once all others
        were served.
        """
        self._due = None
        faults: list[Exception] = []
        for seat in list(self._by_id.values()):
            if now - seat.heard > self.rules.silence:
                self._forget(seat)
                continue
            try:
                seat.peer.handle_timer(now)
                self._acting.report(seat, now)
                self._outgoing += [(data, seat.address) for data in seat.peer.data_to_send()]
                self._arm(seat)
            except Exception as error:  # noqa: BLE001  # the other clients are to be served
                self.counters["fault"] += 1
                self._forget(seat)
                faults.append(error)
        if faults:
            raise faults[0]

    # -- who is let in --------------------------------------------------------------------------

    def _newcomer(
        self, message: GgmpMessage, address: _Address, judged: Grant | None, now: Monotonic
    ) -> list[bytes]:
        """Take a message of somebody without a number; one who has it is told again.

        `judged` is what the token of the message allows.
        """
        if message.kind in (
            GgmpMessageType.ACK,
            GgmpMessageType.CLIENT_ASSIGN,
            GgmpMessageType.ACTION_SHORT,
        ):
            return self._silence("no number")
        seat = self._by_address.get(address)
        if seat is None:
            grant = self._door.grant(message, judged)
            if grant is None:
                return self._silence("refused")
            if not self._makes_room(grant):
                return self._silence("full")
            seat = self._seat(self._new_id(grant), grant, address, now)
            seat.is_validated = bool(grant.token)
        elif message.values and now - seat.since > REPETITIONS:
            self._begin_anew(seat, now)
        answers = self._take(seat, message, now)
        if not self._assignments.take(address_key(address[0]), now):
            return answers
        assign = GgmpMessage(GgmpMessageType.CLIENT_ASSIGN, seat.id, message.id)
        return [push_message(assign, self.rules.order), *answers]

    def _seat_static(
        self, static: StaticClient, address: _Address, now: Monotonic
    ) -> GgmpSubscription:
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

    def _makes_room(self, grant: Grant) -> bool:
        """Say whether one more may join.

        A client that never showed its number has to go for that, the oldest first. For a client
        with a token the one without a token that was silent for longest has to go.
        """
        if len(self._by_id) < self.rules.most_clients:
            return True
        seats = self._by_id.values()
        leaving = next((seat for seat in seats if not seat.is_validated), None)
        if leaving is None and grant.token:
            without = (seat for seat in seats if seat.grant is self.rules.anonymous)
            leaving = min(without, key=lambda seat: seat.heard, default=None)
        if leaving is not None:
            self._forget(leaving)
        return leaving is not None

    def _seat(
        self, number: int, grant: Grant, address: _Address, now: Monotonic
    ) -> GgmpSubscription:
        peer = Peer(SERVER, self.rules.wait, self.rules.order)
        seat = GgmpSubscription(number, address, grant, peer, now, now)
        self._by_id[seat.id] = self._by_address[address] = seat
        self._arm_at(Monotonic(now + self.rules.silence + 1))
        return seat

    def _begin_anew(self, seat: GgmpSubscription, now: Monotonic) -> None:
        """Forget what a client said before: its messages count from the start again."""
        self.counters["lost"] += seat.peer.lost
        seat.peer = Peer(SERVER, self.rules.wait, self.rules.order)
        seat.watched.clear()
        seat.since = now

    def _forget(self, seat: GgmpSubscription) -> None:
        del self._by_id[seat.id]
        del self._by_address[seat.address]
        self.counters["lost"] += seat.peer.lost
        self.counters["gone"] += 1

    # -- what they ask --------------------------------------------------------------------------

    def _take(self, seat: GgmpSubscription, message: GgmpMessage, now: Monotonic) -> list[bytes]:
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

    def _perform(self, seat: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        self.counters["acts"] += 1
        self._acting.perform(seat, whole, now)

    def _prove(self, seat: GgmpSubscription, now: Monotonic) -> None:
        """Do what a client asked before it showed the number that was sent to its address."""
        seat.is_validated = True
        held, seat.held = seat.held, []
        for whole in held:
            self._perform(seat, whole, now)

    def _arm(self, seat: GgmpSubscription) -> None:
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
