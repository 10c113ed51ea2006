"""The GGMP server: admits clients by token or static number, and performs their actions.

A client that shows a token gets a number, which is valid for its address until the client is silent
for a minute. Without a token a client gets a number only if the configuration allows it. Static
clients have agreed numbers. Nobody else gets an answer.

Source: docs/protocol/administration/ggmp.md#joining.
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
from emu.admin.ggmp.peer import WAIT, GgmpPeer, Whole
from emu.commands import Use
from emu.errors import MalformedMessage
from emu.limits.addresses import address_key
from emu.limits.rates import Allowance, AnswerRules, Throttle
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class GgmpRules:
    """The settings of the server."""

    grants: Sequence[Grant] = ()
    anonymous: Grant | None = None
    """The rights of clients without a token; None refuses them."""
    clients: Mapping[int, StaticClient] = field(default_factory=dict)
    """Static clients by their numbers."""
    wait: float = WAIT
    """Seconds to the first retransmission."""
    silence: float = 60.0
    """Seconds of silence after which a client is removed."""
    most_clients: int = 256
    order: ByteOrder = BIG

    @property
    def lets_anybody_in(self) -> bool:
        """Whether any client can log in."""
        return bool(self.grants or self.clients) or self.anonymous is not None


GUESSES: Final = Allowance(burst=5, refill=12.0)
"""Wrong tokens of one address: five a minute."""


class GgmpAdmission:
    """The rules of logging in, and the count of guessed tokens."""

    def __init__(
        self, rules: GgmpRules, guessed: Callable[[str], object] = lambda _host: None
    ) -> None:
        """`guessed` is called with the address of each wrong token that was compared."""
        self.rules = rules
        self._guessed = guessed
        self.logins: Counter[str] = Counter()
        """Tokens of new clients, by result."""
        # Bounded, because anybody can send from any number of forged addresses.
        self._guesses = Throttle(GUESSES, most_keys=10_000)

    def judge(self, message: GgmpMessage, host: str, now: Monotonic) -> Grant | None:
        """Return the grant of a message's token; None for no token and for a wrong one.

        The attempt is charged before the token is compared, and a correct one is refunded. An
        address without budget gets no comparison: then the answer to a correct token is that to a
        wrong one.
        """
        token = _shown(message)
        key = address_key(host)
        # An empty token is no guess, so it costs nothing.
        if not token or not self._guesses.take(key, now):
            return None
        grant = grant_of(self.rules.grants, token)
        if grant is None:
            self._guessed(host)
        else:
            # Given back, so that a client may log in as often as it needs.
            self._guesses.give_back(key, now)
        return grant

    def grant(self, message: GgmpMessage, judged: Grant | None) -> Grant | None:
        """Return the rights of a new client; `judged` is the grant of its first message's token."""
        if not _shown(message):
            return self.rules.anonymous
        self.logins["refused" if judged is None else "accepted"] += 1
        return judged

    def grant_again(self, client: GgmpSubscription) -> Grant | None:
        """Return the present rights of a logged-in client; None if it has lost its access."""
        # By its token: the operator may have removed it, or changed its rights.
        if client.grant.token:
            return grant_of(self.rules.grants, client.grant.token)
        static = self.rules.clients.get(client.id)
        if static is not None and static.host == client.address[0]:
            return static.grant
        return self.rules.anonymous

    def known(self, number: int, host: str) -> StaticClient | None:
        """Return the static client of a number if the host matches."""
        static = self.rules.clients.get(number)
        return static if static is not None and static.host == host else None


def _shown(message: GgmpMessage) -> str:
    """Return the token of a message; empty if there is none."""
    return next((entry.value for entry in message.values if isinstance(entry.value, str)), "")


ANSWER_RULES: Final = AnswerRules(
    address_burst=400, address_rate=200.0, unproven_rate=1000.0,
    share_burst=5000.0, share_rate=5000.0,
)  # fmt: skip
"""Rate limits of messages."""
ASSIGNMENTS: Final = Allowance(burst=4, refill=1.0)
"""Number assignments sent to one address."""
REPETITIONS: Final = 1.0
"""Seconds after which a repeated token means that the client has restarted.

Within that time it is a retransmission.
"""
MOST_HELD: Final = 8
"""Actions kept for a client whose address is not validated."""

_Address = tuple[str, int]


class GgmpServer:
    """The server's side for all clients; a `emu.net.udp.query.QueryCore` with a timer."""

    def __init__(
        self,
        world: GgmpWorld,
        rules: GgmpRules,
        random_below: Callable[[int], int],
        report_use: Callable[[Use], None] = lambda _use: None,
        guessed: Callable[[str], object] = lambda _host: None,
    ) -> None:
        """Control the actors of `world`; `report_use` is called for every change.

        `guessed` is called with the address of each wrong token that was compared.
        `random_below` returns an unpredictable number from 0 to its argument less one.
        """
        self.rules = rules
        self._admission = GgmpAdmission(rules, guessed)
        self.logins = self._admission.logins
        """Tokens of new clients, by result."""
        self._random_below = random_below
        self._acting = Acting(world, report_use)
        self._by_id: dict[int, GgmpSubscription] = {}
        self._by_address: dict[_Address, GgmpSubscription] = {}
        self._last_id = 0
        self._assignments = Throttle(ASSIGNMENTS, most_keys=10_000)
        self._judged: tuple[bytes, _Address, Grant | None] | None = None
        """The datagram whose token `validates` has compared, and the token's grant."""
        self._pulled: tuple[bytes, GgmpMessage] | None = None
        """The last message that `validates` has parsed; `answer` gets the same datagram next."""
        self._due: Monotonic | None = None
        self._outgoing: list[tuple[bytes, _Address]] = []
        self.counters: Counter[str] = Counter()
        """Messages by result."""

    def __len__(self) -> int:
        return len(self._by_id)

    def configure(self, rules: GgmpRules) -> None:
        """Change the rules. Clients that they no longer allow are removed at once."""
        self.rules = self._admission.rules = rules
        # The cached judgement was made under the old rules.
        self._judged = self._pulled = None
        for client in list(self._by_id.values()):
            grant = self._admission.grant_again(client)
            if grant is None:
                self._forget(client)
                continue
            client.grant = grant
            if GgmpAction.WATCH not in grant.actions:
                # Watches that were set under the old grant must not go on reporting.
                client.watched.clear()

    def validates(self, data: bytes, address: _Address, now: Monotonic) -> bool:
        """Return whether a datagram has a valid token, or a number that its address was assigned.

        `answer`, which gets the same datagram next, does not compare the token again.
        """
        self._judged = self._pulled = None
        try:
            message = pull_message(data, self.rules.order)
        except MalformedMessage:
            return False
        self._pulled = data, message
        # Number 0 is the server's, and means in a client's message that it has no number yet.
        if message.client == SERVER:
            grant = self._admission.judge(message, address[0], now)
            self._judged = data, address, grant
            return grant is not None
        client = self._by_id.get(message.client)
        # The number counts only together with its address, or it could be used from anywhere.
        if client is not None and client.address == address:
            return True
        return self._admission.known(message.client, address[0]) is not None

    def answer(self, data: bytes, address: _Address, now: Monotonic) -> list[bytes]:
        """Return the datagrams that answer one; none if it is not a message of a client."""
        pulled, self._pulled = self._pulled, None
        try:
            if pulled is not None and pulled[0] is data:
                message = pulled[1]
            else:
                message = pull_message(data, self.rules.order)
        except MalformedMessage as error:
            return self._silence(error.reason)
        if message.client == SERVER:
            # Cleared with the use, so that one judgement serves one datagram.
            judged, self._judged = self._judged, None
            if judged is not None and judged[:2] == (data, address):
                return self._newcomer(message, address, judged[2], now)
            grant = self._admission.judge(message, address[0], now)
            return self._newcomer(message, address, grant, now)
        client = self._by_id.get(message.client)
        # A client that comes from a new port has another address here.
        if client is None or client.address != address:
            static = self._admission.known(message.client, address[0])
            if static is None:
                return self._silence("wrong address")
            client = self._add_static(static, address, now)
        # The number was random and sent to this address only: showing it proves that the client
        # receives there.
        if not client.is_validated:
            self._prove(client, now)
        return self._take(client, message, now)

    def data_to_send(self) -> list[tuple[bytes, _Address]]:
        """Return and clear the datagrams that the timer has produced, with their addresses."""
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def get_timer(self) -> Monotonic | None:
        """Return the time of the next `handle_timer`; never later than anything is due."""
        return self._due

    def handle_timer(self, now: Monotonic) -> None:
        """Retransmit, report watched actors and remove silent clients.

        A client that causes an exception is removed. The first exception is raised when all other
        clients have been served.
        """
        self._due = None
        faults: list[Exception] = []
        for client in list(self._by_id.values()):
            # Before its timers, so that nothing is sent to a client that is gone.
            if now - client.heard > self.rules.silence:
                self._forget(client)
                continue
            try:
                client.peer.handle_timer(now)
                self._acting.report(client, now)
                self._outgoing += [(data, client.address) for data in client.peer.data_to_send()]
                self._arm(client)
            except Exception as error:  # noqa: BLE001  # the other clients are to be served
                self.counters["fault"] += 1
                self._forget(client)
                faults.append(error)
        if faults:
            raise faults[0]

    # -- admission
    # --------------------------------------------------------------------------------

    def _newcomer(
        self, message: GgmpMessage, address: _Address, judged: Grant | None, now: Monotonic
    ) -> list[bytes]:
        """Handle a message of a client without a number; a known address gets its number again.

        `judged` is the grant of the message's token.
        """
        # These need a number: an Ack answers nothing, and a short action has no space for a token.
        if message.kind in (
            GgmpMessageType.ACK,
            GgmpMessageType.CLIENT_ASSIGN,
            GgmpMessageType.ACTION_SHORT,
        ):
            return self._silence("no number")
        client = self._by_address.get(address)
        if client is None:
            grant = self._admission.grant(message, judged)
            if grant is None:
                return self._silence("refused")
            if not self._make_capacity(grant):
                return self._silence("full")
            client = self._add(self._new_id(grant), grant, address, now)
            # Only its owner knows a token, so a token counts as a proof of the address.
            client.is_validated = bool(grant.token)
        elif message.values and now - client.since > REPETITIONS:
            # A known address that shows a token again has restarted: its counters begin at 0, and
            # ours would drop them.
            self._begin_anew(client, now)
        # Taken before the assignment is counted, so that the message has its effect in any case.
        answers = self._take(client, message, now)
        # The assignment is the only message that an unvalidated address gets, so its rate is
        # bounded.
        if not self._assignments.take(address_key(address[0]), now):
            return answers
        assign = GgmpMessage(GgmpMessageType.CLIENT_ASSIGN, client.id, message.id)
        return [push_message(assign, self.rules.order), *answers]

    def _add_static(
        self, static: StaticClient, address: _Address, now: Monotonic
    ) -> GgmpSubscription:
        """Add a static client. A new port means that it has restarted."""
        for before in (self._by_id.get(static.number), self._by_address.get(address)):
            # The first turn may have removed the second one as well.
            if before is not None and before.id in self._by_id:
                self._forget(before)
        return self._add(static.number, static.grant, address, now)

    def _new_id(self, grant: Grant) -> int:
        """Return a free number.

        With a token it is the next one. Without, it is random: only the receiver at that address
        can know it, so that showing it proves the address.
        """
        number = self._last_id
        while True:
            number = (
                number % MOST_CLIENTS + 1 if grant.token else self._random_below(MOST_CLIENTS) + 1
            )
            # Ends, because `_make_capacity` keeps the clients far below the number of numbers.
            if number not in self._by_id:
                break
        if grant.token:
            self._last_id = number
        return number

    def _make_capacity(self, grant: Grant) -> bool:
        """Make capacity for a new client; return False if there is none.

        A client that never validated its address is removed, the oldest first. For a client with a
        token, the longest silent one without a token is removed.
        """
        if len(self._by_id) < self.rules.most_clients:
            return True
        clients = self._by_id.values()
        removed = next((client for client in clients if not client.is_validated), None)
        if removed is None and grant.token:
            without = (client for client in clients if client.grant is self.rules.anonymous)
            removed = min(without, key=lambda client: client.heard, default=None)
        if removed is not None:
            self._forget(removed)
        return removed is not None

    def _add(
        self, number: int, grant: Grant, address: _Address, now: Monotonic
    ) -> GgmpSubscription:
        peer = GgmpPeer(SERVER, self.rules.wait, self.rules.order)
        client = GgmpSubscription(number, address, grant, peer, now, now)
        self._by_id[client.id] = self._by_address[address] = client
        # One second later, so that the check finds the client silent for longer than the limit.
        self._arm_at(Monotonic(now + self.rules.silence + 1))
        return client

    def _begin_anew(self, client: GgmpSubscription, now: Monotonic) -> None:
        """Reset a client's counters and watches after its restart."""
        # The new peer counts from 0, so the losses so far are kept here.
        self.counters["lost"] += client.peer.lost
        client.peer = GgmpPeer(SERVER, self.rules.wait, self.rules.order)
        client.watched.clear()
        client.since = now

    def _forget(self, client: GgmpSubscription) -> None:
        del self._by_id[client.id]
        del self._by_address[client.address]
        self.counters["lost"] += client.peer.lost
        self.counters["gone"] += 1

    # -- actions
    # -------------------------------------------------------------------------------------

    def _take(self, client: GgmpSubscription, message: GgmpMessage, now: Monotonic) -> list[bytes]:
        client.heard = now
        for delivery in client.peer.receive(message, now):
            if not isinstance(delivery, Whole):
                # Values and raw data that belong to no action have no meaning for this server.
                self.counters["data without an act"] += 1
            elif client.is_validated:
                self._perform(client, delivery, now)
            elif len(client.held) < MOST_HELD:
                # Performed only once the address is validated: a forged sender could otherwise move
                # actors of others.
                client.held.append(delivery)
        answers = client.peer.data_to_send()
        # Nothing that starts now is due before this time, so an earlier timer is enough.
        if self._due is None or self._due > now + min(self.rules.wait, SHORTEST_INTERVAL):
            self._arm(client)
        return answers

    def _perform(self, client: GgmpSubscription, whole: Whole, now: Monotonic) -> None:
        self.counters["acts"] += 1
        self._acting.perform(client, whole, now)

    def _prove(self, client: GgmpSubscription, now: Monotonic) -> None:
        """Mark the address as validated, and perform the held actions."""
        client.is_validated = True
        held, client.held = client.held, []
        for whole in held:
            self._perform(client, whole, now)

    def _arm(self, client: GgmpSubscription) -> None:
        self._arm_at(Monotonic(client.heard + self.rules.silence + 1))
        due = client.get_timer()
        if due is not None:
            self._arm_at(due)

    def _arm_at(self, due: Monotonic) -> None:
        # Only earlier: a timer that fires too early costs one loop, a late one delays a client.
        if self._due is None or due < self._due:
            self._due = due

    def _silence(self, reason: str) -> list[bytes]:
        self.counters[reason] += 1
        return []
