"""Memories of behaviors: a small dict for each spawn, and one for each of its visitors.

A memory has texts as keys, and as values texts, numbers, true, false, None, and lists and dicts of
these. Every value is copied and checked when it is set. Lists are returned as tuples and dicts as
read-only mappings: a change inside of a value would otherwise go unnoticed and be lost.

Changed memories are stored together a little later (`BehaviorRules.memory_pause`). The instances of
a zone share the memories of its spawns.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, MutableMapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary, ref

from emu.errors import EmuError, StoreError
from emu.model import SpawnMemory
from emu.processes.ports import MemoryStore
from emu.times import Clock, Monotonic
from emu.world.deadlines import Deadlines, Timetable
from emu.world.rules import BehaviorRules

LONGEST_KEY: Final = 64
"""Characters of a key."""
DEEPEST: Final = 8
"""Lists and dicts inside each other."""
LARGEST_NUMBER: Final = 2**63 - 1
MOST_ROWS: Final = 200
MOST_LETTERS: Final = 200_000
"""Memories of one call of the store, and characters in one save: a call must stay short."""
LONGEST_RETRY: Final = 60.0
"""Seconds of the longest pause between two attempts to store or load."""


class MemoryKey(NamedTuple):
    """Names one memory: zone, key of the spawn in it ("" for the zone), character (0 for none)."""

    zone_id: int
    spawn: str
    char_id: int = 0


class Memory(MutableMapping[str, Any]):
    """The memory of a spawn, or what it remembers of one visitor."""

    __slots__ = ("__weakref__", "_changed", "_check", "_most", "_texts", "_values")

    def __init__(
        self,
        most: int,
        changed: Callable[[], None],
        entries: str = "",
        *,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """`most`: bytes of the whole memory as JSON. `changed` is called after each change.

        `entries` is the stored JSON. `check` is called by each use, and raises if the time of the
        behavior's call is over. Raises `ValueError` if `entries` is no JSON.
        """
        self._check = check
        self._most = most
        self._changed = changed
        self._values: dict[str, Any] = {}
        # Kept as texts, so that the size and the stored form are known without encoding all
        # entries.
        self._texts: dict[str, str] = {}
        """Each entry as JSON, with its key."""
        stored = json.loads(entries) if entries else {}
        for key, value in stored.items():
            self._values[key] = _frozen(value, DEEPEST)
            self._texts[key] = _entry(key, value)

    def __getitem__(self, key: str) -> Any:
        """Return a value; lists are tuples, and dicts are read-only."""
        self._check()
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Set a value. Raises `TypeError` and `ValueError` for one that cannot be stored."""
        self._check()
        name = _name(key)
        if not name or len(name) > LONGEST_KEY:
            raise ValueError(f"memory: a key must have 1 to {LONGEST_KEY} characters")
        # Each value takes at least one byte of JSON, so the limit in bytes bounds their number,
        # too.
        exact = _exact(value, DEEPEST, [self._most])
        text = _entry(name, exact)
        # One byte more for each comma, and two for the braces.
        others = sum(len(one.encode()) + 1 for key, one in self._texts.items() if key != name)
        if others + len(text.encode()) + 2 > self._most:
            raise ValueError(f"memory: it would have more than {self._most} bytes as JSON")
        # An equal value is no change, so it causes no save.
        if self._texts.get(name) == text:
            return
        self._values[name] = _frozen(exact, DEEPEST)
        self._texts[name] = text
        self._changed()

    def __delitem__(self, key: str) -> None:
        self._check()
        del self._values[key]
        del self._texts[key]
        self._changed()

    def __iter__(self) -> Iterator[str]:
        # A copy: a behavior may change its memory while it goes through it.
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Memory({self.as_text() or '{}'})"

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return a value; set it first if it is missing."""
        # The base class would return the caller's own list, whose changes would be lost.
        if key not in self._values:
            self[key] = default
        return self[key]

    def as_text(self) -> str:
        """Return the memory as a JSON object, "" if it is empty."""
        return f"{{{','.join(self._texts.values())}}}" if self._texts else ""


def _name(key: object) -> str:
    if not issubclass(type(key), str):
        raise TypeError("memory: a key must be a text")
    return _text(key)


def _text(value: object) -> str:
    exact = str.__str__(value)  # not the behavior's own method
    try:
        exact.encode()
    except UnicodeEncodeError:
        raise ValueError("memory: a text has half of a surrogate pair") from None
    return exact


def _entry(key: str, value: object) -> str:
    return f"{_json(key)}:{_json(value)}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _exact(value: object, depth: int, left: list[int]) -> Any:
    """Return a copy of a value from exact built-in types.

    `left` counts down how many values it may have inside. Raises `TypeError` and `ValueError`.
    """
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise ValueError(f"memory: a value is too large, or deeper than {DEEPEST} lists and dicts")
    kind = type(value)
    if value is None or kind is bool:
        return value
    if issubclass(kind, str):
        return _text(value)
    if issubclass(kind, (int, float)):
        return _number(value)
    if issubclass(kind, (list, tuple)):
        # The base classes' iterators: a subclass may have its own, and yield without end.
        base: Any = list if issubclass(kind, list) else tuple
        return [_exact(item, depth - 1, left) for item in base.__iter__(value)]
    if issubclass(kind, (dict, MappingProxyType)):
        pairs = dict.items(value) if issubclass(kind, dict) else value.items()  # type: ignore[arg-type, attr-defined]
        return {_name(key): _exact(item, depth - 1, left) for key, item in pairs}
    raise TypeError(
        f"memory: {kind.__name__} cannot be stored; use texts, numbers, true, false, None, and"
        " lists and dicts of these"
    )


def _number(value: Any) -> int | float:
    """Return an exact number by the base classes' methods, not by the behavior's own."""
    if issubclass(type(value), int):
        number = int.__int__(value)
        if abs(number) > LARGEST_NUMBER:
            raise ValueError("memory: a number is too large")
        return number
    fraction = float.__float__(value)
    if not math.isfinite(fraction):
        raise ValueError("memory: a number is not finite")
    return fraction


def _frozen(value: Any, depth: int) -> Any:
    if isinstance(value, list) and depth >= 0:
        return tuple(_frozen(item, depth - 1) for item in value)
    if isinstance(value, dict) and depth >= 0:
        return MappingProxyType({key: _frozen(item, depth - 1) for key, item in value.items()})
    return value


class Memories:
    """The memories of all running zones of a process."""

    def __init__(
        self,
        store: MemoryStore,
        start: Callable[[Coroutine[Any, Any, None]], None],
        clock: Clock,
        timetable: Timetable,
        *,
        failed: Callable[[StoreError], None],
        check: Callable[[], None],
        counters: Counter[str],
    ) -> None:
        """Load from and save into `store`.

        `start` runs a coroutine that nobody awaits. `failed` is called with the first of several
        failures. `check` is as for `Memory`. `counters` counts what is forgotten.
        """
        self._check = check
        self.limits = BehaviorRules()
        self._counters = counters
        self._store = store
        self._start = start
        self._clock = clock
        self._failed = failed
        self._deadlines: Deadlines[str, int] = timetable.deadlines(
            "the memory of behaviors", self._handle
        )
        self._zones: dict[int, dict[MemoryKey, Memory]] = {}
        """The memories of each loaded zone, by number; the longest unchanged ones come first."""
        self._empty: WeakValueDictionary[MemoryKey, Memory] = WeakValueDictionary()
        """The memories without an entry that behaviors use."""
        self._ended: set[int] = set()
        """Zones that have ended with memories that are not stored yet."""
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        """What waits until a zone is loaded, by the zone's number."""
        self._dirty: dict[MemoryKey, None] = {}
        self._saving: tuple[SpawnMemory, ...] = ()
        self._is_divided = False
        """Whether the save in flight has only a part of what had changed."""
        self._pause = 1.0

    def __len__(self) -> int:
        """Return how many memories are not stored yet."""
        return len(self._dirty) + len(self._saving)

    # -- zones ------------------------------------------------------------------------------------

    def when_loaded(self, zone_id: int, act: Callable[[], None]) -> None:
        """Do something when the memories of a zone are here; at once if they are."""
        if zone_id in self._zones:
            self._ended.discard(zone_id)
            act()
            return
        waiting = self._waiting.get(zone_id)
        if waiting is not None:
            # Several behaviors wait for the same read.
            waiting.append(act)
            return
        self._waiting[zone_id] = [act]
        self._start(self._load(zone_id))

    def release(self, zone_id: int) -> None:
        """Remove the memories of a zone that has ended, when all of them are stored."""
        # Unsaved memories stay, or the next start of the zone would load old ones.
        unsaved = [*self._dirty, *(MemoryKey(*one.key) for one in self._saving)]
        if any(key.zone_id == zone_id for key in unsaved):
            self._ended.add(zone_id)
            return
        self._ended.discard(zone_id)
        self._zones.pop(zone_id, None)

    def of(self, zone_id: int, spawn: str, char_id: int = 0) -> Memory:
        """Return the memory of a spawn, or what it remembers of a character.

        Raises `EmuError` if the zone is not loaded.
        """
        key = MemoryKey(zone_id, spawn, char_id)
        memories = self._zones.get(zone_id)
        if memories is None:
            raise EmuError("memory: this zone is not loaded")
        found = memories.get(key)
        if found is None:
            found = self._empty.get(key)
        if found is None:
            # Listed with its first entry only, so that memories of all who pass by cost nothing.
            found = self._empty[key] = self._memory(key)
        return found

    def _memory(self, key: MemoryKey, entries: str = "") -> Memory:
        limits = self.limits
        most = limits.visitor_memory if key.char_id else limits.memory

        def changed() -> None:
            memory = made()
            if memory is not None:
                self._change(key, memory)

        memory = Memory(most, changed, entries, check=self._check)
        # Without a reference cycle: an empty memory ends with the last behavior that uses it.
        made = ref(memory)
        return memory

    def _change(self, key: MemoryKey, memory: Memory) -> None:
        memories = self._zones.get(key.zone_id)
        if memories is None:  # the zone has ended
            return
        is_new = memories.pop(key, None) is None
        memories[key] = memory  # at the end: the longest unchanged ones come first
        self._mark(key)
        if is_new and key.char_id:
            self._make_space(key, memories)

    def _make_space(self, key: MemoryKey, memories: dict[MemoryKey, Memory]) -> None:
        """Forget the visitors of a spawn that were unchanged longest, above the limit."""
        # In the order of their last change, so the first ones go.
        of_spawn = [one for one in memories if one.spawn == key.spawn and one.char_id]
        for one in of_spawn[: max(0, len(of_spawn) - self.limits.visitors)]:
            del memories[one]
            self._mark(one)
            self._counters["visitors forgotten"] += 1

    def _mark(self, key: MemoryKey) -> None:
        self._dirty[key] = None
        # While a save is in flight, its end starts the next one.
        if self._deadlines.get("save", 0) is None and not self._saving:
            self._arm("save", 0, self.limits.memory_pause)

    def _arm(self, what: str, number: int, seconds: float) -> None:
        self._deadlines.set(what, number, Monotonic(self._clock.now() + seconds))

    # -- time -------------------------------------------------------------------------------------

    def _handle(self, what: str, number: int, _now: Monotonic) -> None:
        """Store what has changed, or load again what could not be loaded."""
        if what == "save":
            self.save()
        elif number in self._waiting:
            self._start(self._load(number))

    def save(self) -> None:
        """Begin to store everything that has changed, unless a save is in flight."""
        # One save at a time keeps the order of changes.
        if not self._dirty or self._saving:
            return
        moment = self._clock.moment()
        rows: list[SpawnMemory] = []
        size = 0
        for key in self._dirty:
            memory = self._zones.get(key.zone_id, {}).get(key)
            text = memory.as_text() if memory is not None else ""
            size += len(text)
            # At least one row, even if it alone is larger than the limit.
            if rows and (len(rows) == MOST_ROWS or size > MOST_LETTERS):
                break  # the others are in the next save
            rows.append(SpawnMemory(*key, text, moment))
        for row in rows:
            del self._dirty[MemoryKey(*row.key)]
        self._is_divided = bool(self._dirty)
        self._deadlines.clear("save", 0)
        self._saving = tuple(rows)
        self._start(self._save())

    async def _save(self) -> None:
        rows = self._saving
        try:
            await self._store.save_memories(rows)
        except StoreError as error:
            # The failed rows come first. Their state is read again, so the newest one is stored.
            again = {MemoryKey(*row.key): None for row in rows}
            self._dirty = again | self._dirty
            self._saving = ()
            self._fail(error)
            self._arm("save", 0, self._pause)
        else:
            self._saving = ()
            self._pause = 1.0
            for zone_id in list(self._ended):
                self.release(zone_id)
            # The rest of a divided save follows at once.
            if self._is_divided:
                self.save()
            elif self._dirty:
                self._arm("save", 0, self.limits.memory_pause)

    def _fail(self, error: StoreError) -> None:
        # The first failure only: the store may be away for minutes.
        if self._pause == 1.0:
            self._failed(error)
        self._pause = min(2 * self._pause, LONGEST_RETRY)

    async def _load(self, zone_id: int) -> None:
        rows: list[SpawnMemory] = []
        try:
            more: Sequence[SpawnMemory] | None = None
            # In portions, so that each call stays short.
            while more is None or len(more) == MOST_ROWS:
                more = await self._store.of_zone(zone_id, len(rows), MOST_ROWS)
                rows += more
        except StoreError as error:
            self._fail(error)
            self._arm("load", zone_id, self._pause)
            return
        # Also for a zone that remembers nothing: the empty table shows that it is loaded.
        memories = self._zones[zone_id] = {}
        for row in rows:
            key = MemoryKey(*row.key)
            try:
                memories[key] = self._memory(key, row.entries)
            except (ValueError, AttributeError):  # another program has changed the row
                self._counters["unreadable"] += 1
        for act in self._waiting.pop(zone_id, []):
            act()
