"""Lets clients in, knows each by its number and address, and hands on what they ask.

Whoever shows a token is given a number, which is good for its address until it is silent for a
minute. Anybody else is not answered. Source: docs/protocol/administration/ggmp.md#decisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from emu.admin.ggmp.acting import Acting, Seat
from emu.admin.ggmp.grants import Grant, grant_of
from emu.admin.ggmp.messages import SERVER, Kind, Message, pull_message, push_message
from emu.admin.ggmp.outbox import WAIT
from emu.admin.ggmp.peer import Peer
from emu.admin.ggmp.ports import Stage
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
GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong tokens of one address: five a minute."""
ASSIGNMENTS: Final = Allowance(burst=4, refill=1.0)
"""Numbers told to one address."""
REPETITIONS: Final = 1.0
"""Seconds after which a token that is shown again is no repetition: the client has begun anew."""


@dataclass(frozen=True, slots=True)
class GgmpRules:
    """What the server does."""

    grants: Sequence[Grant] = ()
    anonymous: Grant | None = None
    """What those may do who show no token; None lets nobody in without one."""
    wait: float = WAIT
    """Seconds to the first repetition of what is not acknowledged."""
    silence: float = 60.0
    """Seconds after which a client that says nothing is gone."""
    most_clients: int = 256


class GgmpServer:
    """The server's end for all clients; a `emu.net.udp.query.QueryCore` with a timer as well."""

    def __init__(
        self, stage: Stage, rules: GgmpRules, told: Callable[[Use], None] = lambda _use: None
    ) -> None:
        """Act on `stage`; `told` hears of all that is done there."""
        self.rules = rules
        self._acting = Acting(stage, told)
        self._by_id: dict[int, Seat] = {}
        self._by_address: dict[tuple[str, int], Seat] = {}
        self._last_id = 0
        self._guesses = Throttle(GUESSES, most_keys=10_000)
        self._assignments = Throttle(ASSIGNMENTS, most_keys=10_000)
        self._due: Monotonic | None = None
        self._outgoing: list[tuple[bytes, tuple[str, int]]] = []
        self.counters: Counter[str] = Counter()
        """Messages by what became of them."""

    def __len__(self) -> int:
        return len(self._by_id)

    def proves(self, data: bytes, address: tuple[str, int], _now: Monotonic) -> bool:
        """Say whether a datagram is of a client that was let in, or shows a token."""
        try:
            message = pull_message(data)
        except MalformedMessage:
            return False
        if message.client == SERVER:
            return grant_of(self.rules.grants, _shown(message)) is not None
        seat = self._by_id.get(message.client)
        return seat is not None and seat.address == address

    def answer(self, data: bytes, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none for what is no message of a client."""
        try:
            message = pull_message(data)
        except MalformedMessage as error:
            return self._silence(error.reason)
        if message.client == SERVER:
            return self._newcomer(message, address, now)
        seat = self._by_id.get(message.client)
        if seat is None or seat.address != address:
            return self._silence("wrong address")
        return self._take(seat, message, now)

    def data_to_send(self) -> list[tuple[bytes, tuple[str, int]]]:
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

    def _newcomer(self, message: Message, address: tuple[str, int], now: Monotonic) -> list[bytes]:
        """Take a message of somebody without a number; one who has it is told again."""
        if message.kind in (Kind.ACK, Kind.CLIENT_ASSIGN, Kind.ACTION_SHORT):
            return self._silence("no number")
        seat = self._by_address.get(address)
        if seat is None:
            grant = self._grant(message, address[0], now)
            if grant is None:
                return self._silence("refused")
            if len(self._by_id) >= self.rules.most_clients:
                return self._silence("full")
            seat = self._seat(grant, address, now)
        elif message.values and now - seat.since > REPETITIONS:
            self._begin_anew(seat, now)
        answers = self._take(seat, message, now)
        if not self._assignments.take(address_key(address[0]), now):
            return answers
        assign = Message(Kind.CLIENT_ASSIGN, seat.id, message.id)
        return [push_message(assign), *answers]

    def _take(self, seat: Seat, message: Message, now: Monotonic) -> list[bytes]:
        seat.heard = now
        for delivery in seat.peer.receive(message, now):
            if isinstance(delivery, Whole):
                self.counters["acts"] += 1
                self._acting.perform(seat, delivery, now)
            else:
                self.counters["data without an act"] += 1
        answers = seat.peer.data_to_send()
        self._arm(seat)
        return answers

    def _grant(self, message: Message, host: str, now: Monotonic) -> Grant | None:
        """Return what a newcomer may do: its first message has a token."""
        key = address_key(host)
        token = _shown(message)
        if not token:
            return self.rules.anonymous
        if not self._guesses.allows(key, now):
            return None
        grant = grant_of(self.rules.grants, token)
        if grant is None:
            self._guesses.take(key, now)
        return grant

    def _seat(self, grant: Grant, address: tuple[str, int], now: Monotonic) -> Seat:
        self._last_id += 1
        peer = Peer(SERVER, self.rules.wait)
        seat = Seat(self._last_id, address, grant, peer, now, now)
        self._by_id[seat.id] = self._by_address[address] = seat
        self._arm_at(Monotonic(now + self.rules.silence + 1))
        return seat

    def _begin_anew(self, seat: Seat, now: Monotonic) -> None:
        """Forget what a client said before: its messages count from the start again."""
        self.counters["lost"] += seat.peer.lost
        seat.peer = Peer(SERVER, self.rules.wait)
        seat.watched.clear()
        seat.since = now

    def _forget(self, seat: Seat) -> None:
        del self._by_id[seat.id]
        del self._by_address[seat.address]
        self.counters["lost"] += seat.peer.lost
        self.counters["gone"] += 1

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


def _shown(message: Message) -> str:
    """Return the token of a message, empty when there is none."""
    return next((entry.value for entry in message.values if isinstance(entry.value, str)), "")
