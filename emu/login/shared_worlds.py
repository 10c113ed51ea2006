"""The worlds that are linked to any login server of a cluster.

A world is linked to one login server (EQ2Emulator's worlds can have no more). That one publishes
the world's entry (`emu.processes.tables`) and passes requests of the others on to the world. When a
world has linked to another login server, the later link counts, as with two links to one.

A request of another login server is a question, answered as soon as it was sent to the world. The
world's own answer goes back as a question too, which is repeated until it has arrived: whoever
asked may have left, and a created character must be stored all the same.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import count
from typing import Any, Final

from emu.errors import EmuError, Unanswered
from emu.login.directory import WorldDirectory
from emu.login.ports import WorldObserver
from emu.mailbox import Spawn
from emu.model import CreateResponse, PlayResponse
from emu.processes.ports import BusMember, Note
from emu.processes.tables import SharedTable, Values
from emu.reply_codes import CreateCode, PlayCode
from emu.times import Clock, Monotonic
from emu.worlds import WorldEntry

WORLDS: Final = "worlds"
"""The topic of the table of worlds."""
PLAY, CREATE, DELETE = "worlds.play", "worlds.create", "worlds.delete"
ANSWERED: Final = "worlds.answered"
"""Topics of questions, each followed by the name of the process that answers."""
TRIES: Final = 3
"""How often an answer of a world, or a deletion, is sent until it has arrived."""
MOST_ASKED: Final = 10_000
"""Requests that worlds have not answered."""
MOST_RECEIVED: Final = 100
"""Answers that are recognized when they come again."""
LATER: Final = 0.001
"""Seconds by which a link is later than the one that it replaces."""

_FIELDS = tuple(one.name for one in fields(WorldEntry))


@dataclass(frozen=True, slots=True)
class _Linked:
    """A world's entry, and when its link began."""

    entry: WorldEntry
    since: float


def _linked(values: Values) -> _Linked:
    entry = WorldEntry(**{name: values[name] for name in _FIELDS if name in values})
    return _Linked(entry, float(values["since"]))


class Askers:
    """Which process has asked a world what, in the order of the requests.

    A key is world and account, for a play request also the character. A request is forgotten after
    `memory` seconds, when the world's answer is not accepted any more.
    """

    def __init__(self, memory: float) -> None:
        self._memory = memory
        self._asked: OrderedDict[tuple[int, ...], deque[tuple[str, float]]] = OrderedDict()
        """In the order of their newest request."""
        self._keys: dict[int, dict[tuple[int, ...], None]] = {}
        """The keys of `_asked`, by world: thousands of requests to other worlds are not walked."""

    def add_asker(self, key: tuple[int, ...], process: str, now: Monotonic) -> bool:
        """Note a request; return False when too many are unanswered."""
        self._expire(now)
        if key not in self._asked and len(self._asked) >= MOST_ASKED:
            return False
        self._asked.setdefault(key, deque()).append((process, now + self._memory))
        self._asked.move_to_end(key)
        self._keys.setdefault(key[0], {})[key] = None
        return True

    def take_asker(self, key: tuple[int, ...], own: str) -> str:
        """Remove and return the process that an answer belongs to; `own` when none is known."""
        asked = self._asked.get(key)
        if not asked:
            return own
        process, _ = asked.popleft()
        if not asked:
            self._drop(key)
        return process

    def only_key(self, world_id: int) -> tuple[int, ...] | None:
        """Return the key of the requests to a world if all of them have the same."""
        found = self._keys.get(world_id, {})
        return next(iter(found)) if len(found) == 1 else None

    def forget(self, world_id: int) -> None:
        """Remove all requests to a world that can no longer answer."""
        for key in list(self._keys.get(world_id, ())):
            self._drop(key)

    def _drop(self, key: tuple[int, ...]) -> None:
        del self._asked[key]
        of_world = self._keys[key[0]]
        del of_world[key]
        if not of_world:
            del self._keys[key[0]]

    def _expire(self, now: Monotonic) -> None:
        while self._asked:
            key, asked = next(iter(self._asked.items()))
            while asked and asked[0][1] <= now:
                asked.popleft()
            if asked:
                return
            self._drop(key)


class SharedWorlds:
    """`ConnectedWorlds` over the worlds linked here (`own`) and those linked elsewhere.

    `spawn` starts a coroutine. Call `tick` every `emu.processes.tables.DIGEST` seconds where there
    are other processes.
    """

    def __init__(
        self, member: BusMember, own: WorldDirectory, *, spawn: Spawn, clock: Clock
    ) -> None:
        self._member = member
        self._own = own
        self._spawn = spawn
        self._clock = clock
        self._observer: WorldObserver | None = None
        self._since: dict[int, float] = {}
        """When the link of each world that is linked here began."""
        memory = own.config.answer_memory
        self._plays = Askers(memory)
        self._creates = Askers(memory)
        # From the time on, so that the numbers of a process that is started again are new.
        self._numbers = count(int(clock.moment() * 1000))
        self._received: deque[tuple[str, int]] = deque(maxlen=MOST_RECEIVED)
        """Process and number of the answers that were passed on last."""
        own.observe(self)
        self._table: SharedTable[_Linked] = SharedTable(
            member.bus, WORLDS, member.name, run=member.run, read=_linked, changed=self._heard,
            spawn=spawn,
        )  # fmt: skip
        for topic, answer in (
            (PLAY, self._answer_play),
            (CREATE, self._answer_create),
            (DELETE, self._answer_delete),
            (ANSWERED, self._answer_answered),
        ):
            member.bus.answer(f"{topic}.{member.name}", answer)

    def tick(self) -> None:
        """Publish what the others need in order to notice what they have missed."""
        self._table.tick()

    # The client side of the login service (emu.login.ports.ConnectedWorlds).

    def observe(self, observer: WorldObserver) -> None:
        """Set the subscriber to changes of worlds."""
        self._observer = observer

    def listed(self) -> Sequence[WorldEntry]:
        """Return the worlds to list, by ascending id."""
        entries = {entry.id: entry for entry in self._own.listed()}
        for world_id in self._table.keys() - entries.keys():
            found = self._elsewhere(world_id)
            if found is not None:
                entries[world_id] = found[1].entry
        return [entries[world_id] for world_id in sorted(entries)]

    def connected(self, world_id: int) -> WorldEntry | None:
        """Return a world that is connected now."""
        own = self._own.connected(world_id)
        if own is not None:
            return own
        found = self._elsewhere(world_id)
        return found[1].entry if found is not None else None

    def request_play(
        self, world_id: int, account_id: int, char_id: int, client_address: str, now: Monotonic
    ) -> bool:
        """Request a character's entry from a world; return False when it is not connected."""
        if self._own.connected(world_id) is not None:
            place = (world_id, account_id, char_id)
            return self._play_here(self._member.name, place, client_address, now)
        found = self._elsewhere(world_id)
        if found is None:
            return False
        note: Note = {
            "process": self._member.name, "world_id": world_id, "account_id": account_id,
            "char_id": char_id, "address": client_address,
        }  # fmt: skip
        self._spawn(self._play_elsewhere(found[0], note))
        return True

    def request_create(
        self, world_id: int, account_id: int, client_version: int, payload: bytes, now: Monotonic
    ) -> bool:
        """Pass a create request on with the real account id in it; return False as above."""
        if self._own.connected(world_id) is not None:
            place = (world_id, account_id)
            return self._create_here(self._member.name, place, client_version, payload, now)
        found = self._elsewhere(world_id)
        if found is None:
            return False
        note: Note = {
            "process": self._member.name, "world_id": world_id, "account_id": account_id,
            "version": client_version, "payload": payload,
        }  # fmt: skip
        self._spawn(self._create_elsewhere(found[0], note))
        return True

    def notify_delete(self, world_id: int, account_id: int, char_id: int, now: Monotonic) -> None:
        """Notify a world that a character was deleted."""
        found = self._elsewhere(world_id)
        if self._own.connected(world_id) is not None or found is None:
            self._own.notify_delete(world_id, account_id, char_id, now)
            return
        note: Note = {"world_id": world_id, "account_id": account_id, "char_id": char_id}
        self._spawn(self._ask(f"{DELETE}.{found[0]}", note))

    # Events of the worlds that are linked here (emu.login.ports.WorldObserver).

    def world_changed(self, entry: WorldEntry, now: Monotonic) -> None:
        """Publish and pass on a world that appeared here, or whose entry changed."""
        if entry.id not in self._since:
            # A link that is known here is earlier, even if the clock of its machine is ahead.
            known = [linked.since + LATER for _, linked in self._table.holders(entry.id)]
            self._since[entry.id] = max([self._clock.moment(), *known])
        self._table.put(entry.id, {**asdict(entry), "since": self._since[entry.id]})
        if self._observer is not None:
            self._observer.world_changed(entry, now)

    def world_gone(self, world_id: int, now: Monotonic) -> None:
        """Publish and pass on the end of a world's link here."""
        self._since.pop(world_id, None)
        self._plays.forget(world_id)
        self._creates.forget(world_id)
        self._table.drop(world_id)
        self._show(world_id, now, is_replaced=True)

    def play_answered(self, answer: PlayResponse, now: Monotonic) -> None:
        """Pass a world's answer on to the process that has asked."""
        place = (answer.world_id, answer.account_id, answer.char_id)
        asker = self._plays.take_asker(place, self._member.name)
        if asker != self._member.name:
            self._pass_on(asker, answer)
        elif self._observer is not None:
            self._observer.play_answered(answer, now)

    def create_answered(self, answer: CreateResponse, now: Monotonic) -> None:
        """Pass a world's answer on to the process that has asked."""
        key: tuple[int, ...] | None = (answer.world_id, answer.account_id)
        # Account 0: the world could not read the request. Of several it could be any.
        if not answer.account_id:
            key = self._creates.only_key(answer.world_id)
        asker = self._creates.take_asker(key, self._member.name) if key else self._member.name
        if asker != self._member.name:
            self._pass_on(asker, answer)
        elif self._observer is not None:
            self._observer.create_answered(answer, now)

    def _pass_on(self, asker: str, answer: PlayResponse | CreateResponse) -> None:
        # The number, because an answer that is sent again may have arrived before.
        note = {**asdict(answer), "process": self._member.name, "number": next(self._numbers)}
        self._spawn(self._ask(f"{ANSWERED}.{asker}", note))

    # Worlds that are linked elsewhere.

    def _elsewhere(self, world_id: int) -> tuple[str, _Linked] | None:
        """Return a world's entry at the other login server to which it has linked last."""
        return max(self._table.holders(world_id), key=_order, default=None)

    def _heard(self, process: str, world_id: int, linked: _Linked | None) -> None:
        now, since = self._clock.now(), self._since.get(world_id)
        if since is None:
            self._show(world_id, now, is_replaced=False)
        elif linked is not None and (linked.since, process) > (since, self._member.name):
            self._own.end_replaced(world_id, now)

    def _show(self, world_id: int, now: Monotonic, *, is_replaced: bool) -> None:
        """Pass on the present state of a world that is not linked here."""
        if self._observer is None:
            return
        entry = self.connected(world_id)
        # The link that could have answered is gone, even if there is another one.
        if entry is None or is_replaced:
            self._observer.world_gone(world_id, now)
        if entry is not None:
            self._observer.world_changed(entry, now)

    async def _play_elsewhere(self, process: str, note: Note) -> None:
        if await self._is_sent(f"{PLAY}.{process}", note, if_unknown=False):
            return
        place = _number(note, "world_id"), _number(note, "account_id"), _number(note, "char_id")
        refusal = PlayResponse(*place, 0, PlayCode.PROBLEM, "", 0)
        if self._observer is not None:
            self._observer.play_answered(refusal, self._clock.now())

    async def _create_elsewhere(self, process: str, note: Note) -> None:
        # Without an answer the world may have it all the same, and its answer comes later.
        if await self._is_sent(f"{CREATE}.{process}", note, if_unknown=True):
            return
        world_id, account_id = int(note["world_id"] or 0), int(note["account_id"] or 0)
        refusal = CreateResponse(world_id, account_id, 0, CreateCode.NO_SERVERS)
        if self._observer is not None:
            self._observer.create_answered(refusal, self._clock.now())

    async def _is_sent(self, topic: str, note: Note, *, if_unknown: bool) -> bool:
        """Return whether another process has sent a request to its world."""
        try:
            return bool((await self._member.bus.request(topic, note))["sent"])
        except Unanswered:
            return if_unknown
        except (EmuError, KeyError):
            return False

    async def _ask(self, topic: str, note: Note) -> None:
        """Send a question until it is answered, a few times."""
        for _ in range(TRIES):
            try:
                await self._member.bus.request(topic, note)
            except Unanswered:
                continue
            except EmuError:
                return  # It has arrived, and cannot be carried out.
            return

    # Questions of the others.

    def _play_here(
        self, process: str, place: tuple[int, int, int], address: str, now: Monotonic
    ) -> bool:
        # Before the request, because the answer may come within it.
        if not self._plays.add_asker(place, process, now):
            return False
        is_sent = self._own.request_play(*place, address, now)
        if not is_sent:
            self._plays.take_asker(place, "")
        return is_sent

    def _create_here(
        self, process: str, place: tuple[int, int], version: int, payload: bytes, now: Monotonic
    ) -> bool:
        if not self._creates.add_asker(place, process, now):
            return False
        is_sent = self._own.request_create(*place, version, payload, now)
        if not is_sent:
            self._creates.take_asker(place, "")
        return is_sent

    async def _answer_play(self, note: Note) -> Note:
        place = _number(note, "world_id"), _number(note, "account_id"), _number(note, "char_id")
        now = self._clock.now()
        return {"sent": self._play_here(str(note["process"]), place, str(note["address"]), now)}

    async def _answer_create(self, note: Note) -> Note:
        place, payload = (_number(note, "world_id"), _number(note, "account_id")), note["payload"]
        if not isinstance(payload, bytes):
            return {"sent": False}
        process, version = str(note["process"]), _number(note, "version")
        return {"sent": self._create_here(process, place, version, payload, self._clock.now())}

    async def _answer_delete(self, note: Note) -> Note:
        place = _number(note, "world_id"), _number(note, "account_id"), _number(note, "char_id")
        self._own.notify_delete(*place, self._clock.now())
        return {}

    async def _answer_answered(self, note: Note) -> Note:
        now, observer = self._clock.now(), self._observer
        received = str(note["process"]), _number(note, "number")
        if observer is None or received in self._received:
            return {}
        self._received.append(received)
        if "access_key" in note:
            observer.play_answered(PlayResponse(**_values(PlayResponse, note)), now)
        else:
            observer.create_answered(CreateResponse(**_values(CreateResponse, note)), now)
        return {}


def _order(held: tuple[str, _Linked]) -> tuple[float, str]:
    process, linked = held
    return linked.since, process


def _number(note: Note, name: str) -> int:
    return int(note[name] or 0)


def _values(kind: type[PlayResponse | CreateResponse], note: Note) -> Mapping[str, Any]:
    """Return the fields of an answer; a missing one raises `KeyError`."""
    return {one.name: note[one.name] for one in fields(kind)}
