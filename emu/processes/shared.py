"""What the processes of a world share: characters, world keys, zone servers, and the bus.

A world key is issued when a play request is granted. It works once, for one account, within a
minute (EQ2Emulator removes old keys only when the next player comes;
docs/protocol/world/entering.md#admission). `LocalBus` is the bus of a single process.

The characters in the world are known to every process. A process that starts late asks the others
for theirs, and each publishes its own again when another process can be reached. The characters of
a process that can no longer be reached are removed.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

from emu.errors import CommandError, DuplicateName, EmuError, LimitExceeded, Unanswered
from emu.model import ANYBODY, EntryOrigin, Handoff, Present, may_see
from emu.processes.ports import CAME, GONE, Bus, Note
from emu.times import UNKNOWN, Clock, Moment, Monotonic


class LocalSubscription:
    """A subscription; the first `cancel` calls its `end`."""

    __slots__ = ("_end",)

    def __init__(self, end: Callable[[], object]) -> None:
        self._end: Callable[[], object] | None = end

    def cancel(self) -> None:
        """End the subscription."""
        end, self._end = self._end, None
        if end is not None:
            end()


class LocalBus:
    """`Bus` for one process. `failed` receives the errors of subscribers."""

    __slots__ = ("_answers", "_failed", "_hear", "_publishing", "_waiting")

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._hear: dict[str, dict[object, Callable[[Note], None]]] = {}
        self._answers: dict[str, Callable[[Note], Awaitable[Note]]] = {}
        self._waiting: deque[tuple[str, Note]] = deque()
        self._publishing = False

    def publish(self, topic: str, note: Note) -> None:
        """Deliver a note to all subscribers; notes that they publish follow after it."""
        # A queue, because a subscriber may publish: every subscriber gets all notes in the same
        # order.
        # A copy: the publisher may change its note before a queued one is delivered.
        self._waiting.append((topic, dict(note)))
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._waiting:
                self._deliver(*self._waiting.popleft())
        finally:
            self._publishing = False

    def subscribe(self, topic: str, hear: Callable[[Note], None]) -> LocalSubscription:
        """Call `hear` with each note of a topic from now on."""
        # A key of its own for each subscription, so that one function may subscribe twice.
        place = object()
        self._hear.setdefault(topic, {})[place] = hear
        return LocalSubscription(partial(self._forget, topic, place))

    def answer(self, topic: str, answer: Callable[[Note], Awaitable[Note]]) -> LocalSubscription:
        """Answer the questions of a topic. Raises `DuplicateName`."""
        if topic in self._answers:
            raise DuplicateName(f"{topic} is answered already")
        self._answers[topic] = answer
        return LocalSubscription(partial(self._answers.pop, topic))

    @property
    def topics(self) -> list[str]:
        """Topics whose questions are answered."""
        return list(self._answers)

    def answers(self, topic: str) -> bool:
        """Return whether the questions of a topic are answered."""
        return topic in self._answers

    async def request(self, topic: str, note: Note) -> Note:
        """Send a question to the answerer of a topic. Raises `Unanswered` and `CommandError`."""
        answer = self._answers.get(topic)
        if answer is None:
            raise Unanswered(f"no process answers {topic}")
        try:
            return dict(await answer(dict(note)))
        except EmuError as error:
            # The same error as from another process, so that callers need not know where the
            # answerer is.
            raise CommandError(str(error)) from error

    def _deliver(self, topic: str, note: Note) -> None:
        heard = self._hear.get(topic, {})
        # A copy: a subscriber may subscribe or cancel during the delivery.
        for place, hear in list(heard.items()):
            if place not in heard:  # Cancelled by an earlier subscriber of this note.
                continue
            try:
                hear(note)
            except Exception as error:  # noqa: BLE001  # the others are to hear it all the same
                self._failed(error)

    def _forget(self, topic: str, place: object) -> None:
        del self._hear[topic][place]
        # Topics without subscribers would stay for ever otherwise.
        if not self._hear[topic]:
            del self._hear[topic]


LIFETIME = 60.0
"""Seconds for which a key is valid."""
MOST_KEYS = 10_000
"""Unused keys at once."""


@dataclass(frozen=True, slots=True)
class _Issued:
    handoff: Handoff
    expires: Monotonic


@dataclass(slots=True, eq=False, repr=False)
class LocalHandoffKeys:
    """`HandoffKeys` in memory."""

    draw: Callable[[], int]
    """Returns a random u32 that players cannot predict."""
    clock: Clock
    _: KW_ONLY
    lifetime: float = LIFETIME
    most: int = MOST_KEYS
    _by_key: OrderedDict[int, _Issued] = field(default_factory=OrderedDict)
    _by_account: dict[int, dict[int, int]] = field(default_factory=dict)
    """The keys of an account, by character."""

    def __len__(self) -> int:
        return len(self._by_key)

    async def issue(
        self,
        account_id: int,
        char_id: int,
        name: str,
        rank: int = 0,
        entry: int = EntryOrigin.LOGIN,
    ) -> int:
        """Return a new key, never 0; it replaces an unused one of the same character.

        Raises `LimitExceeded` when too many keys are unused.
        """
        now = self._expire()
        # One key for each character: a player who asks again and again holds no more than one.
        # 0 is never a key, so it stands for a character without one.
        self._drop(self._by_account.get(account_id, {}).get(char_id, 0))
        if len(self._by_key) >= self.most:
            raise LimitExceeded("too many hand-off keys")
        key = 0
        # 0 means "no key" in the messages, so it is never drawn.
        while not key or key in self._by_key:
            key = self.draw() & 0xFFFFFFFF
        handoff = Handoff(account_id, char_id, name, rank, entry)
        self._by_key[key] = _Issued(handoff, Monotonic(now + self.lifetime))
        self._by_account.setdefault(account_id, {})[char_id] = key
        return key

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Use a key; return None if it is unknown, used, too old or another account's."""
        self._expire()
        found = self._by_key.get(key)
        # Another account's key stays valid: guessing it must not take it away from its owner.
        if found is None or found.handoff.account_id != account_id:
            return None
        self._drop(key)
        return found.handoff

    async def withdraw(self, char_id: int) -> None:
        """Remove the keys of a character that may no longer be played."""
        # A list, because dropping a key changes the dict.
        for key in [key for key, one in self._by_key.items() if one.handoff.char_id == char_id]:
            self._drop(key)

    async def withdraw_account(self, account_id: int) -> None:
        """Remove the keys of an account that is about to enter with another character."""
        for key in list(self._by_account.get(account_id, {}).values()):
            self._drop(key)

    async def withdraw_entries(self, below: int) -> None:
        """Remove the keys of characters of lower ranks that are not in the world yet."""
        for key, one in list(self._by_key.items()):
            # A character that changes its zone is in the world already; its key must stay valid.
            if one.handoff.rank < below and not one.handoff.is_zoning:
                self._drop(key)

    async def held_by_others(self, account_id: int) -> int:
        """Return how many unused keys belong to other accounts."""
        self._expire()
        return len(self._by_key) - len(self._by_account.get(account_id, ()))

    def _expire(self) -> Monotonic:
        """Remove keys that are too old; return the current time."""
        now = self.clock.now()
        while self._by_key:
            # All keys live equally long, so the first one issued is the first to expire.
            key, oldest = next(iter(self._by_key.items()))
            if oldest.expires > now:
                break
            self._drop(key)
        return now

    def _drop(self, key: int) -> None:
        found = self._by_key.pop(key, None)
        if found is not None:
            keys = self._by_account[found.handoff.account_id]
            del keys[found.handoff.char_id]
            if not keys:
                del self._by_account[found.handoff.account_id]


MOST_PORT: Final = 0xFFFF


@dataclass(frozen=True, slots=True, eq=False)
class ZoneTable:
    """`ZoneServers` of several processes.

    `table` returns zones with the names of the processes that serve them. `rest` returns the name
    of the process that serves all other zones. `others` are the processes that can be
    reached, each with ``host`` and ``port`` for clients.
    """

    process: str
    _: KW_ONLY
    table: Callable[[], Mapping[int, str]]
    rest: Callable[[], str]
    others: Mapping[str, Mapping[str, Any]]

    def serves(self, zone_id: int) -> bool:
        """Return whether this process serves a zone."""
        return self.server_of(zone_id) == self.process

    def elsewhere(self, zone_id: int) -> tuple[str, int] | None:
        """Return the host and port of a zone's process for clients, or None for this process.

        Raises `Unanswered` when that process cannot be reached.
        """
        server = self.server_of(zone_id)
        if server == self.process:
            return None
        about = self.others.get(server)
        # The player is refused instead of being entered here: two processes would then run the same
        # zone.
        if about is None:
            raise Unanswered(
                f"that zone cannot be reached now: its server {server} is not connected"
            )
        address = address_of(about)
        if address is None:
            raise Unanswered(
                f"that zone cannot be reached: its server {server} has no address for clients"
            )
        return address

    def server_of(self, zone_id: int) -> str:
        """Return the name of the process that serves a zone."""
        # Read for each question: the table may change.
        return self.table().get(zone_id) or self.rest()


def served_here() -> ZoneTable:
    """Return the `ZoneServers` of a world that is one process, which serves every zone."""
    return ZoneTable("", table=dict, rest=str, others={})


def address_of(about: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return a process' host and port for clients, or None."""
    match about:
        case {"host": str() as host, "port": int() as port} if host and 0 < port <= MOST_PORT:
            return host, port
    return None


ENTERED = "presence.entered"
LOST_LINK = "presence.lost_link"
LEFT = "presence.left"
DISMISS = "presence.dismiss"
ASKED = "presence.asked"
"""Topics. Every note has its sender in ``process``, and all but `ASKED` have a ``char_id``."""


class SharedPresence:
    """`Presence` over any `Bus`; `process` is the unique name of this process.

    A change takes effect in this process at once, however long the bus takes. `moment` is the wall
    clock: when two processes that could not reach each other have let in the same character, the
    later entry wins.
    """

    __slots__ = ("_bus", "_by_character", "_by_name", "_moment", "_process", "_send_away")

    def __init__(
        self, bus: Bus, process: str, moment: Callable[[], Moment] = lambda: UNKNOWN
    ) -> None:
        self._bus = bus
        self._process = process
        self._moment = moment
        self._by_character: dict[int, Present] = {}
        self._by_name: dict[str, int] = {}
        self._send_away: dict[int, Callable[[], None]] = {}
        """How to take each character of this process out of the world."""
        for topic, hear in (
            (ENTERED, self._heard_entered),
            (LOST_LINK, self._heard_lost_link),
            (LEFT, self._heard_left),
            (DISMISS, self._heard_dismiss),
            (ASKED, lambda _values: self._publish_all()),
        ):
            bus.subscribe(topic, partial(self._heard, hear))
        bus.subscribe(CAME, lambda _note: self._publish_all())
        bus.subscribe(GONE, partial(self._heard, self._heard_gone))
        # The processes that run already answer with their characters, so that this one starts with
        # all of them.
        self._publish(ASKED)

    def __iter__(self) -> Iterator[Present]:
        """All characters in the world, of every process; a snapshot."""
        return iter(list(self._by_character.values()))

    @property
    def players(self) -> int:
        """Players in the world, link-dead ones included, hidden ones not."""
        return sum(may_see(ANYBODY, one) for one in self._by_character.values())

    @property
    def zones(self) -> int:
        """Zones with at least one player who is not hidden."""
        present = self._by_character.values()
        return len({one.zone_id for one in present if may_see(ANYBODY, one)})

    def players_besides(self, account_id: int) -> int:
        """Return how many players of other accounts are in the world and not hidden."""
        return sum(
            one.account_id != account_id and may_see(ANYBODY, one)
            for one in self._by_character.values()
        )

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Return whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """
        return any(
            one.account_id == account_id and not one.link_dead and one.char_id != besides
            for one in self._by_character.values()
        )

    def find(self, char_id: int) -> Present | None:
        """Return a character in the world by its id."""
        return self._by_character.get(char_id)

    def named(self, name: str) -> Present | None:
        """Return a character in the world by its name, without regard to case."""
        return self._by_character.get(self._by_name.get(name.casefold(), 0))

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Add a character that has entered this process, has returned, or has changed its zone."""
        # Only characters of this process have an entry here; `_own` relies on that.
        self._send_away[present.char_id] = send_away
        # The wall clock, because it is compared with that of other machines; see the class.
        self._put(replace(present, process=self._process, since=self._moment()))
        self._publish_present(present.char_id)

    def seen(
        self,
        char_id: int,
        *,
        away: bool | None = None,
        anonymous: bool | None = None,
        hidden: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Change how a character of this process appears to others.

        None leaves a value as it is.
        """
        found = self._own(char_id)
        if found is not None:
            given = {"away": away, "anonymous": anonymous, "hidden": hidden, "name": name}
            changes = {key: value for key, value in given.items() if value is not None}
            self._put(replace(found, **changes))  # type: ignore[arg-type]  # of the fields' types
            self._publish_present(char_id)

    def lost_link(self, char_id: int) -> None:
        """Record that a character's client was lost without leaving the world."""
        if self._own(char_id) is not None:
            self._lost_link(char_id)
            self._publish(LOST_LINK, char_id=char_id)

    def left(self, char_id: int) -> None:
        """Remove a character that has left the world, unless another process has it by now."""
        if self._own(char_id) is not None:
            self._drop(char_id)
            self._publish(LEFT, char_id=char_id)

    def forget(self, char_id: int) -> None:
        """Remove a character from this process without notifying the others."""
        if self._own(char_id) is not None:
            self._drop(char_id)

    def dismiss(self, char_id: int) -> None:
        """Take a character out of the world, in whichever process it is."""
        # At once, without the bus: the character may be in this process.
        self._heard_dismiss({"char_id": char_id})
        self._publish(DISMISS, char_id=char_id)

    # Publishing.

    def _publish_all(self) -> None:
        for char_id in list(self._send_away):
            self._publish_present(char_id)

    def _publish_present(self, char_id: int) -> None:
        self._publish(ENTERED, **asdict(self._by_character[char_id]))

    def _publish(self, topic: str, **values: Any) -> None:
        self._bus.publish(topic, {**values, "process": self._process})

    # Notes of other processes.

    def _heard(self, hear: Callable[[dict[str, Any]], None], note: Note) -> None:
        """Handle a note of another process; this process has applied its own already."""
        if note["process"] != self._process:
            hear(dict(note))

    def _heard_entered(self, values: dict[str, Any]) -> None:
        present = Present(**values)
        # Both processes have let the character in while they could not reach each other. The later
        # entry wins on both sides, because both compare the same two times.
        own = self._own(present.char_id)
        if own is not None and own.since > present.since:
            self._publish_present(own.char_id)
            return
        # The entry is replaced before the call: leaving must not publish that the character has
        # left.
        send_away = self._send_away.pop(present.char_id, None)
        self._put(present)
        if send_away is not None:
            send_away()

    def _heard_lost_link(self, values: dict[str, Any]) -> None:
        # A late note of the earlier process must not touch a character that has entered elsewhere.
        if self._comes_from_own_process(values):
            self._lost_link(values["char_id"])

    def _heard_left(self, values: dict[str, Any]) -> None:
        if self._comes_from_own_process(values):
            self._drop(values["char_id"])

    def _heard_dismiss(self, values: dict[str, Any]) -> None:
        send_away = self._send_away.get(values["char_id"])
        if send_away is not None:
            send_away()

    def _heard_gone(self, values: dict[str, Any]) -> None:
        # `__iter__` returns a snapshot, so dropping is safe.
        for one in self:
            if one.process == values["process"]:
                self._drop(one.char_id)

    # The copy of this process.

    def _own(self, char_id: int) -> Present | None:
        return self._by_character[char_id] if char_id in self._send_away else None

    def _comes_from_own_process(self, values: dict[str, Any]) -> bool:
        """Return whether a note about a character comes from the process that it is in."""
        found = self._by_character.get(values["char_id"])
        return found is not None and found.process == values["process"]

    def _put(self, present: Present) -> None:
        before = self._by_character.get(present.char_id)
        # A renamed character must no longer be found by its old name.
        if before is not None and before.name != present.name:
            self._forget_name(before)
        self._by_character[present.char_id] = present
        self._by_name[present.name.casefold()] = present.char_id

    def _lost_link(self, char_id: int) -> None:
        self._put(replace(self._by_character[char_id], link_dead=True))

    def _drop(self, char_id: int) -> None:
        self._send_away.pop(char_id, None)
        gone = self._by_character.pop(char_id, None)
        if gone is not None:
            self._forget_name(gone)

    def _forget_name(self, gone: Present) -> None:
        # Another character may have taken the name since.
        if self._by_name.get(gone.name.casefold()) == gone.char_id:
            del self._by_name[gone.name.casefold()]
