"""A simulated network between two sessions: lossy, repeating, reordering, with its own clock.

No reactor and no waiting: time jumps to the next arrival or timer.
"""

from __future__ import annotations

import heapq
import random

from emu.session import Event, Message, Role, Session, SessionConfig
from emu.times import Monotonic
from emu.wire import ProtocolPacket, Seal, push_packet

CHECK_KEY = 0x33624702
KEY_BLOCK = bytes(range(1, 61))
SESSION_ID = 0x5352F60F
SEAL = Seal(CHECK_KEY)


def drain(session: Session) -> list[Event]:
    """Take all events of a session."""
    events = []
    while (event := session.next_event()) is not None:
        events.append(event)
    return events


def sealed(packet: ProtocolPacket) -> bytes:
    """Return the datagram of one packet, as a peer that knows the check key sends it."""
    return SEAL.seal(push_packet(packet))


class Link:
    """Joins a client-role and a server-role session; `now` is seconds since an arbitrary start.

    `loss`, `duplicate` and `reorder` are probabilities for each datagram, `delay` is one way,
    `jitter` the seconds that any datagram may take longer. A reordered datagram takes up to three
    delays instead of one. `events` holds the events of each side,
    `carried` and `lost` count datagrams, `carried_by` those that one side sent.
    """

    def __init__(
        self,
        client: Session,
        server: Session,
        *,
        loss: float = 0.0,
        duplicate: float = 0.0,
        reorder: float = 0.0,
        delay: float = 0.05,
        jitter: float = 0.0,
        seed: int = 0,
        now: float = 1000.0,
    ) -> None:
        self.client = client
        self.server = server
        self.loss = loss
        self.duplicate = duplicate
        self.reorder = reorder
        self.delay = delay
        self.jitter = jitter
        self.now = now
        self.carried = 0
        self.lost = 0
        self.carried_by = {Role.CLIENT: 0, Role.SERVER: 0}
        self.events: dict[Role, list[Event]] = {Role.CLIENT: [], Role.SERVER: []}
        self.wire: list[tuple[Role, bytes]] = []
        self._random = random.Random(seed)
        self._arrivals: list[tuple[float, int, Session, bytes]] = []
        self._count = 0

    def messages(self, role: Role) -> list[tuple[int, bytes]]:
        """Return opcode and body of everything that arrived at one side."""
        return [(e.opcode, e.payload) for e in self.events[role] if isinstance(e, Message)]

    def flush(self) -> None:
        """Take events and datagrams of both sides; the datagrams are on their way then."""
        self._take(self.client, self.server)
        self._take(self.server, self.client)

    def _take(self, session: Session, other: Session) -> None:
        role, events, now = session.role, self.events[session.role], Monotonic(self.now)
        while (event := session.next_event()) is not None:
            events.append(event)
        for datagram in session.datagrams_to_send(now):
            self.carried_by[role] += 1
            self.wire.append((role, datagram))
            self._carry(other, datagram)
        while (event := session.next_event()) is not None:
            events.append(event)

    def _carry(self, receiver: Session, datagram: bytes) -> None:
        self.carried += 1
        chance = self._random.random
        if chance() < self.loss:
            self.lost += 1
            return
        copies = 2 if chance() < self.duplicate else 1
        for _ in range(copies):
            delay = self.delay * (1 + 2 * chance() if chance() < self.reorder else 1)
            delay += self.jitter and self.jitter * chance()
            self._count += 1
            heapq.heappush(self._arrivals, (self.now + delay, self._count, receiver, datagram))

    def _next_time(self) -> float | None:
        times: list[float | None] = [self.client.get_timer(), self.server.get_timer()]
        times += [self._arrivals[0][0]] if self._arrivals else []
        return min((time for time in times if time is not None), default=None)

    def step(self, until: float | None = None) -> bool:
        """Go to the next thing that happens; False when that is after `until`, or never."""
        self.flush()
        return self._advance(until)

    def _advance(self, until: float | None) -> bool:
        """Go to the next thing that happens, after a flush."""
        time = self._next_time()
        if time is None or (until is not None and time > until):
            return False
        self.now = max(self.now, time)
        now, arrivals = Monotonic(self.now), self._arrivals
        while arrivals and arrivals[0][0] <= now:
            _, _, receiver, datagram = heapq.heappop(arrivals)
            receiver.receive_datagram(datagram, now)
        for session in (self.client, self.server):
            timer = session.get_timer()
            if timer is not None and timer <= now:
                session.handle_timer(now)
        self.flush()
        return True

    def run(self, seconds: float) -> None:
        """Let this much time pass."""
        until = self.now + seconds
        self.flush()
        while self._advance(until):
            pass
        self.now = until

    def settle(self, seconds: float = 600.0) -> None:
        """Run until both sides have had everything acknowledged, at most for some seconds."""
        until = self.now + seconds
        self.flush()
        while self._busy(self.client) or self._busy(self.server):
            assert self._advance(until), "the link did not settle"

    @staticmethod
    def _busy(session: Session) -> bool:
        # All statistics would take longer than the step. What is in flight counts as queued.
        return not session.ended and session._sent.queued_bytes > 0


def make_sessions(
    config: SessionConfig | None = None,
    server_config: SessionConfig | None = None,
    *,
    trusted: bool = True,
) -> tuple[Session, Session]:
    """Return a client and a server session that have not begun; the client is `trusted` or not."""
    config = config or SessionConfig()
    client = Session(config, role=Role.CLIENT, session_id=SESSION_ID, key_block=KEY_BLOCK)
    server = Session(server_config or config, role=Role.SERVER, check_key=CHECK_KEY, address="peer")
    if trusted:
        server.trust()
    return client, server


def connected_link(config: SessionConfig | None = None, **settings: float) -> Link:
    """Return a link whose sessions have a key; the set-up itself went over a perfect link."""
    client, server = make_sessions(config)
    link = Link(client, server, seed=int(settings.pop("seed", 0)))
    client.connect(Monotonic(link.now))
    link.run(1.0)
    assert client.key is not None
    assert client.key == server.key
    for name, value in settings.items():
        setattr(link, name, value)
    link.events = {Role.CLIENT: [], Role.SERVER: []}
    link.carried = link.lost = 0
    link.carried_by = {Role.CLIENT: 0, Role.SERVER: 0}
    link.wire.clear()
    return link
