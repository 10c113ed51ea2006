"""What the processes of a world share: world keys, zone servers, and the bus.

A world key is issued when a play request is granted. It works once, for one account, within a
minute (EQ2Emulator removes old keys only when the next player comes;
docs/protocol/world/entering.md#admission). `LocalBus` is the bus of a single process.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from emu.errors import CommandError, DuplicateName, EmuError, LimitExceeded, Unanswered
from emu.model import EntryOrigin, Handoff
from emu.processes.ports import Note
from emu.times import Clock, Monotonic


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


class ServedHere:
    """`ZoneServers` of a world that is one process."""

    __slots__ = ()

    def serves(self, _zone_id: int) -> bool:
        """Return whether this process runs a zone: always."""
        return True

    def instances(self, _zone_id: int) -> None:
        """Return that this process runs all instances."""

    async def servers(self) -> Mapping[int, Sequence[str]]:
        """Return no names, because there is one process only."""
        return {}

    async def elsewhere(self, _zone_id: int) -> None:
        """Return that no other process runs a zone."""
