"""The characters in the world, known to every process.

Each process has a table of its own characters and copies of the tables of all others
(`emu.processes.tables`). When two processes have let in the same character, the later entry wins
in every process.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Any, Final

from emu.mailbox import Spawn
from emu.model import ANYBODY, SEES_HIDDEN, Present, may_see
from emu.processes.ports import Bus, Note
from emu.processes.tables import SharedTable, Values
from emu.times import UNKNOWN, Moment

TOPIC: Final = "presence"
DISMISS: Final = "presence.dismiss"
"""The topic of a character that is to leave the world, by its ``char_id``."""
HEAD: Final = 2
"""Letters by which names are grouped."""
LATER: Final = 0.001
"""Seconds by which an entry is later than the one that it replaces."""

_FIELDS = tuple(one.name for one in fields(Present))


class PresenceIndex:
    """Characters by id, name, account, zone and process, and how many there are."""

    def __init__(self) -> None:
        self.by_character: dict[int, Present] = {}
        self.hidden: dict[int, Present] = {}
        self.players: Counter[str] = Counter()
        """How many characters each process has."""
        self._states: Counter[tuple[bool, bool]] = Counter()
        """How many characters there are by hidden and link-dead."""
        self._by_name: dict[str, int] = {}
        self._names: dict[str, list[str]] = {}
        """The keys of `_by_name` in order, by their first `HEAD` letters: short lists, because many
        characters come and go at once with their process.
        """
        self._by_account: dict[int, dict[int, Present]] = {}
        self._by_zone: dict[int, dict[int, Present]] = {}
        self.shown_zones: Counter[int] = Counter()
        """How many characters that are not hidden each zone has."""

    @property
    def shown(self) -> int:
        """Characters that are not hidden."""
        return len(self.by_character) - len(self.hidden)

    def online(self, *, hidden: bool) -> int:
        """Return how many characters have a client; with `hidden`, hidden ones count too."""
        return self._states[False, False] + hidden * self._states[True, False]

    def named(self, name: str) -> Present | None:
        """Return a character by its name, without regard to case."""
        return self.by_character.get(self._by_name.get(name.casefold(), 0))

    def starting_with(self, start: str) -> Iterator[Present]:
        """Yield the characters whose names begin with a text, by name, without regard to case."""
        folded = start.casefold()
        head = folded[:HEAD]
        for key in sorted(one for one in self._names if one.startswith(head)):
            names = self._names[key]
            for name in islice(names, bisect_left(names, folded), None):
                if not name.startswith(folded):
                    break
                yield self.by_character[self._by_name[name]]

    def of_account(self, account_id: int) -> Mapping[int, Present]:
        """Return the characters of an account by id."""
        return self._by_account.get(account_id, {})

    def in_zone(self, zone_id: int) -> Mapping[int, Present]:
        """Return the characters in a zone by id."""
        return self._by_zone.get(zone_id, {})

    def put(self, present: Present) -> None:
        """Add a character, or replace it without a change of the order."""
        char_id = present.char_id
        before = self.by_character.get(char_id)
        if before is not None:
            self._discount(before)
            if before.name != present.name:
                self._forget_name(before)
            if before.zone_id != present.zone_id:
                _drop_from(self._by_zone, before.zone_id, char_id)
            if before.account_id != present.account_id:
                _drop_from(self._by_account, before.account_id, char_id)
        self.by_character[char_id] = present
        name = present.name.casefold()
        if name not in self._by_name:
            insort(self._names.setdefault(name[:HEAD], []), name)
        self._by_name[name] = char_id
        self._by_account.setdefault(present.account_id, {})[char_id] = present
        self._by_zone.setdefault(present.zone_id, {})[char_id] = present
        self.players[present.process] += 1
        self._states[present.hidden, present.link_dead] += 1
        if present.hidden:
            self.hidden[char_id] = present
        else:
            self.shown_zones[present.zone_id] += 1

    def drop(self, char_id: int) -> None:
        """Remove a character, if it is there."""
        gone = self.by_character.pop(char_id, None)
        if gone is not None:
            self._discount(gone)
            self._forget_name(gone)
            _drop_from(self._by_account, gone.account_id, char_id)
            _drop_from(self._by_zone, gone.zone_id, char_id)

    def _discount(self, gone: Present) -> None:
        _decrease(self.players, gone.process)
        self._states[gone.hidden, gone.link_dead] -= 1
        if self.hidden.pop(gone.char_id, None) is None:
            _decrease(self.shown_zones, gone.zone_id)

    def _forget_name(self, gone: Present) -> None:
        name = gone.name.casefold()
        # Another character may have taken the name since.
        if self._by_name.get(name) == gone.char_id:
            del self._by_name[name]
            names = self._names[name[:HEAD]]
            del names[bisect_left(names, name)]
            if not names:
                del self._names[name[:HEAD]]


def _drop_from(index: dict[int, dict[int, Present]], key: int, char_id: int) -> None:
    del index[key][char_id]
    # Keys without characters would stay for ever otherwise.
    if not index[key]:
        del index[key]


def _decrease(counts: Counter[Any], key: int | str) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


class SharedPresence:
    """`Presence` over any `Bus`; `process` is the unique name of this process.

    A change takes effect in this process at once, however long the bus takes. `moment` is the wall
    clock, `spawn` starts a coroutine, and `run` is a number that differs for each start of the
    process. Call `tick` every `emu.processes.tables.DIGEST` seconds where there are other
    processes.
    """

    def __init__(
        self,
        bus: Bus,
        process: str,
        moment: Callable[[], Moment] = lambda: UNKNOWN,
        *,
        spawn: Spawn,
        run: int = 0,
    ) -> None:
        self._bus = bus
        self._process = process
        self._moment = moment
        self._index = PresenceIndex()
        self._send_away: dict[int, Callable[[], None]] = {}
        """How to take each character of this process out of the world."""
        self._observers: list[Callable[[int, Present | None], None]] = []
        bus.subscribe(DISMISS, self._heard_dismiss)
        self._table: SharedTable[Present] = SharedTable(
            bus, TOPIC, process, run=run, read=_present, changed=self._heard, spawn=spawn
        )

    def __iter__(self) -> Iterator[Present]:
        """All characters in the world, of every process; a snapshot."""
        return iter(list(self._index.by_character.values()))

    @property
    def players(self) -> int:
        """Players in the world, link-dead ones included, hidden ones not."""
        return self._index.shown

    @property
    def zones(self) -> int:
        """Zones with at least one player who is not hidden."""
        return len(self._index.shown_zones)

    def online(self, rank: int) -> int:
        """Return how many characters that a rank may see are not link-dead."""
        return self._index.online(hidden=rank >= SEES_HIDDEN)

    @property
    def processes(self) -> Mapping[str, int]:
        """How many characters each process has, for those that have any."""
        return self._index.players

    @property
    def hidden(self) -> Sequence[Present]:
        """The hidden characters."""
        return list(self._index.hidden.values())

    def players_besides(self, account_id: int) -> int:
        """Return how many players of other accounts are in the world and not hidden."""
        own = self._index.of_account(account_id).values()
        return self._index.shown - sum(may_see(ANYBODY, one) for one in own)

    def is_playing(self, account_id: int, *, besides: int = 0) -> bool:
        """Return whether the account has a client in the world that is not link-dead.

        The character `besides` does not count.
        """
        return any(
            not one.link_dead and one.char_id != besides
            for one in self._index.of_account(account_id).values()
        )

    def of_account(self, account_id: int) -> Sequence[Present]:
        """Return the characters of an account."""
        return list(self._index.of_account(account_id).values())

    def in_zone(self, zone_id: int) -> Sequence[Present]:
        """Return the characters in a zone, hidden ones included."""
        return list(self._index.in_zone(zone_id).values())

    def starting_with(self, start: str) -> Iterator[Present]:
        """Yield the characters whose names begin with a text, by name, without regard to case.

        Nobody may enter or leave before the last one.
        """
        return self._index.starting_with(start)

    def find(self, char_id: int) -> Present | None:
        """Return a character in the world by its id."""
        return self._index.by_character.get(char_id)

    def named(self, name: str) -> Present | None:
        """Return a character in the world by its name, without regard to case."""
        return self._index.named(name)

    def entered(self, present: Present, send_away: Callable[[], None]) -> None:
        """Add a character that has entered this process, has returned, or has changed its zone."""
        # Only characters of this process have an entry here; `_own` relies on that.
        self._send_away[present.char_id] = send_away
        before = self.find(present.char_id)
        # The wall clock, because times of several machines are compared. An entry that is known
        # here is earlier, even if the clock of its machine is ahead.
        known = before.since + LATER if before is not None else UNKNOWN
        since = Moment(max(self._moment(), known))
        self._put(replace(present, process=self._process, since=since))

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

    def lost_link(self, char_id: int) -> None:
        """Record that a character's client was lost without leaving the world."""
        found = self._own(char_id)
        if found is not None:
            self._put(replace(found, link_dead=True))

    def left(self, char_id: int) -> None:
        """Remove a character that has left the world, unless another process has it by now."""
        if self._send_away.pop(char_id, None) is not None:
            self._remove(char_id)
            self._table.drop(char_id)

    def forget(self, char_id: int) -> None:
        """Remove a character from this process; the others notice it with the next digest."""
        if self._send_away.pop(char_id, None) is not None:
            self._remove(char_id)
            self._table.own.change(char_id, None)

    def dismiss(self, char_id: int) -> None:
        """Take a character out of the world, in whichever process it is."""
        # In this process at once, by its own subscription.
        self._bus.publish(DISMISS, {"char_id": char_id})

    def is_lost(self, char_id: int) -> bool:
        """Return whether a character was in a process that is lost."""
        return self._table.is_lost(char_id)

    def observe(self, changed: Callable[[int, Present | None], None]) -> None:
        """Call `changed` with each character that enters or changes, and with None for one gone."""
        self._observers.append(changed)

    def tick(self) -> None:
        """Publish what the others need in order to notice what they have missed."""
        self._table.tick()

    # Changes of this process.

    def _put(self, present: Present) -> None:
        self._show(present)
        self._table.put(present.char_id, {name: getattr(present, name) for name in _FIELDS})

    def _own(self, char_id: int) -> Present | None:
        return self.find(char_id) if char_id in self._send_away else None

    # Changes of other processes.

    def _heard_dismiss(self, note: Note) -> None:
        send_away = self._send_away.get(int(note["char_id"] or 0))
        if send_away is not None:
            send_away()

    def _heard(self, process: str, char_id: int, present: Present | None) -> None:
        """Apply a change of another process."""
        if present is None:
            self._heard_gone(process, char_id)
            return
        present = _at(present, process)
        held = self.find(char_id)
        # Two processes may both have let the character in. All compare the same two times, so the
        # later entry wins everywhere; the names decide between equal times.
        if held is not None and held.process != process and _entry(held) > _entry(present):
            return
        # The entry is replaced before the call: leaving must not remove the other one.
        send_away = self._send_away.pop(char_id, None)
        self._show(present)
        if send_away is not None:
            self._table.drop(char_id)
            send_away()

    def _heard_gone(self, process: str, char_id: int) -> None:
        held = self.find(char_id)
        # It has entered elsewhere since.
        if held is None or held.process != process:
            return
        self._remove(char_id)

    def _remove(self, char_id: int) -> None:
        # Another process may have let it in earlier and not have noticed the later entry.
        others = [_at(one, name) for name, one in self._table.holders(char_id)]
        if others:
            self._show(max(others, key=_entry))
            return
        self._index.drop(char_id)
        for changed in self._observers:
            changed(char_id, None)

    def _show(self, present: Present) -> None:
        """Apply a change of a character to the index."""
        self._index.put(present)
        for changed in self._observers:
            changed(present.char_id, present)


def _present(values: Values) -> Present:
    """Return the character of a row; fields that only a later version has are ignored."""
    return Present(**{name: values[name] for name in _FIELDS if name in values})


def _at(present: Present, process: str) -> Present:
    """Return a character as one of the process that has sent it, whatever it says itself."""
    return present if present.process == process else replace(present, process=process)


def _entry(present: Present) -> tuple[float, str]:
    return present.since, present.process
