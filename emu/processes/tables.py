"""Tables of several processes: each row belongs to one process, and every process has a copy.

Each process numbers the changes of its own rows and publishes each one. A bus may lose notes, so a
process that sees a gap in the numbers asks the owner for the changes since the last number that it
has; the answers have a limited size and go to it alone. Every `DIGEST` seconds each process
publishes its last number, so that the loss of the last note is noticed too.

A process is lost when the bus publishes `GONE`, or after `SILENCE` digests that were not received.
Its rows are no longer reported then, but stay here: a process that returns unchanged is asked for
what has changed only.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar

from emu.errors import EmuError, MalformedMessage
from emu.mailbox import Spawn
from emu.processes.ports import CAME, GONE, LOST, Bus, Note

DIGEST: Final = 5.0
"""Seconds between two digests of a process."""
SILENCE: Final = 3
"""Digests of this process during which another one is silent before it counts as lost."""
FORGOTTEN: Final = 120
"""Digests of this process after which the rows of a lost process are not kept any more."""
PAGE: Final = 200
"""Changes in one answer."""
MOST_REMOVED: Final = 1000
"""Removed rows that a process remembers; whoever lacks more gets all rows again."""
MOST_PROCESSES: Final = 1000
"""Other processes whose rows are held."""

Row = TypeVar("Row")
Values = Mapping[str, Any]


class SharedChange(NamedTuple, Generic[Row]):
    """A row that has changed; None for a removed row."""

    key: int
    row: Row | None


class SharedPage(NamedTuple):
    """Some changes of one process, in their order."""

    base: int
    """The number after which the changes begin; 0 when they begin with the first row."""
    until: int
    """The number up to which they are complete."""
    number: int
    """The last number of the process."""
    changes: list[SharedChange[Values]]


class OwnRows:
    """The rows of this process, and the order in which they changed."""

    __slots__ = ("_forgotten", "_last", "_log", "number", "rows")

    def __init__(self) -> None:
        self.rows: dict[int, Values] = {}
        self.number = 0
        """How many changes there were."""
        self._last: dict[int, int] = {}
        """The number of each row's last change, removed rows included."""
        self._log: list[tuple[int, int]] = []
        """Number and key of each change, by number; earlier changes of a row may be missing."""
        self._forgotten = 0
        """The last removal that is not in the log any more."""

    def change(self, key: int, values: Values | None) -> int:
        """Store new values, or remove a row with None; return the number of the change."""
        if values is None:
            self.rows.pop(key, None)
        else:
            self.rows[key] = values
        self.number += 1
        self._last[key] = self.number
        self._log.append((self.number, key))
        # Rarely, so that the work for each change is small and constant.
        if len(self._log) > 2 * (len(self.rows) + MOST_REMOVED):
            self._shorten()
        return self.number

    def page(self, since: int) -> SharedPage:
        """Return up to `PAGE` changes after a number."""
        base = since if self._forgotten <= since <= self.number else 0
        changes: list[SharedChange[Values]] = []
        # The key is never reached, because numbers are unique.
        for number, key in self._log[bisect_right(self._log, (base, 1 << 64)) :]:
            if self._last[key] != number:
                continue  # The row has changed again later.
            changes.append(SharedChange(key, self.rows.get(key)))
            if len(changes) == PAGE:
                return SharedPage(base, number, self.number, changes)
        return SharedPage(base, self.number, self.number, changes)

    def _shorten(self) -> None:
        log = [(number, key) for number, key in self._log if self._last[key] == number]
        removed = [entry for entry in log if entry[1] not in self.rows]
        dropped = dict(removed[:-MOST_REMOVED])
        for number, key in dropped.items():
            self._forgotten = number
            del self._last[key]
        self._log = [entry for entry in log if entry[0] not in dropped]


@dataclass(slots=True, eq=False)
class _Copy(Generic[Row]):
    """The rows of another process."""

    run: int
    number: int = 0
    """All changes up to this number are in `rows`."""
    heard: int = 0
    """The highest number of a note or digest."""
    rows: dict[int, Row] = field(default_factory=dict)
    unconfirmed: set[int] = field(default_factory=set)
    """Rows that have not come again since all rows are sent anew."""
    is_asking: bool = False
    is_lost: bool = False
    losses: int = 0
    """How often the process was lost; an answer from before a loss is not used."""
    silent: int = 0
    """Digests of this process since the last note of the other one."""


class SharedTable(Generic[Row]):
    """The rows of this process, and copies of those of all others, over any `Bus`.

    `topic` distinguishes the tables of a bus. `run` is a number that differs for each start of a
    process. `read` makes a row of the values that another process has sent. `changed` is called
    with process, key and row for each change of another process, and with None for a removed row.
    `spawn` starts a coroutine. Call `tick` every `DIGEST` seconds.
    """

    def __init__(
        self,
        bus: Bus,
        topic: str,
        process: str,
        *,
        run: int,
        read: Callable[[Values], Row],
        changed: Callable[[str, int, Row | None], None],
        spawn: Spawn,
    ) -> None:
        self.own = OwnRows()
        self._bus = bus
        self._topic = topic
        self._process = process
        self._run = run
        self._read = read
        self._changed = changed
        self._spawn = spawn
        self._copies: dict[str, _Copy[Row]] = {}
        bus.subscribe(f"{topic}.changed", self._heard_change)
        bus.subscribe(f"{topic}.digest", self._heard_digest)
        bus.subscribe(f"{topic}.asked", self._heard_asked)
        bus.subscribe(CAME, self._heard_came)
        bus.subscribe(LOST, self._heard_came)
        bus.subscribe(GONE, self._heard_gone)
        bus.answer(self._question(process), self._answer)
        # The processes that run already publish their digests, so that this one knows whom to ask.
        self._publish("asked")

    # The rows of this process.

    def put(self, key: int, values: Values) -> None:
        """Add or replace a row of this process; its values must fit into JSON."""
        self._change(key, values)

    def drop(self, key: int) -> None:
        """Remove a row of this process, if it is there."""
        if key in self.own.rows:
            self._change(key, None)

    def tick(self) -> None:
        """Publish the digest, and report the rows of silent processes as removed."""
        for process, copy in list(self._copies.items()):
            copy.silent += 1
            if copy.silent > SILENCE:
                self._lose(process, copy)
            if copy.silent > FORGOTTEN:
                del self._copies[process]
        self._publish("digest", number=self.own.number)

    # The rows of others.

    def holders(self, key: int) -> Iterator[tuple[str, Row]]:
        """Yield the other processes that have a row of this key, each with its row."""
        for process, copy in self._copies.items():
            if not copy.is_lost and key in copy.rows:
                yield process, copy.rows[key]

    def keys(self) -> set[int]:
        """Return the keys of all rows of the other processes."""
        copies = (copy for copy in self._copies.values() if not copy.is_lost)
        return {key for copy in copies for key in copy.rows}

    @property
    def processes(self) -> set[str]:
        """The other processes that have such a table and are not lost."""
        return {process for process, copy in self._copies.items() if copy.run and not copy.is_lost}

    def rows(self, process: str) -> Mapping[int, Row]:
        """Return the rows of another process, also of a lost one."""
        copy = self._copies.get(process)
        return {} if copy is None else copy.rows

    def is_lost(self, key: int) -> bool:
        """Return whether a lost process had a row of this key when it was lost."""
        return any(copy.is_lost and key in copy.rows for copy in self._copies.values())

    # Publishing.

    def _change(self, key: int, values: Values | None) -> None:
        number = self.own.change(key, values)
        self._publish("changed", number=number, key=key, row=json.dumps(values))

    def _publish(self, kind: str, **values: Any) -> None:
        note = values | {"process": self._process, "run": self._run}
        self._bus.publish(f"{self._topic}.{kind}", note)

    def _question(self, process: str) -> str:
        return f"{self._topic}.rows.{process}"

    async def _answer(self, note: Note) -> Note:
        since = int(note["since"] or 0) if note["run"] == self._run else 0
        page = self.own.page(since)
        return {
            "run": self._run,
            "base": page.base,
            "until": page.until,
            "number": page.number,
            "changes": json.dumps(page.changes),
        }

    # Notes of other processes.

    def _heard_asked(self, note: Note) -> None:
        if note["process"] != self._process:
            self._publish("digest", number=self.own.number)

    def _heard_came(self, note: Note) -> None:
        process = str(note["process"])
        if process != self._process:
            self._ask(process, self._copies.setdefault(process, _Copy(0)))

    def _heard_gone(self, note: Note) -> None:
        process = str(note["process"])
        copy = self._copies.get(process)
        if copy is not None:
            self._lose(process, copy)

    def _heard_digest(self, note: Note) -> None:
        found = self._sender(note)
        if found is not None:
            process, copy, number = found
            copy.heard = max(copy.heard, number)
            if copy.heard > copy.number:
                self._ask(process, copy)

    def _heard_change(self, note: Note) -> None:
        found = self._sender(note)
        if found is None:
            return
        process, copy, number = found
        copy.heard = max(copy.heard, number)
        if number != copy.number + 1 or copy.is_asking:
            # During a question the change comes with its answer, or is asked for after it.
            if number > copy.number:
                self._ask(process, copy)
            return
        (change,) = self._parsed([(note["key"], json.loads(str(note["row"])))])
        copy.number = number
        self._apply(process, copy, change)

    def _sender(self, note: Note) -> tuple[str, _Copy[Row], int] | None:
        """Return the process of a note, its copy and the note's number; None for this process."""
        process, run = str(note["process"]), int(note["run"] or 0)
        if process == self._process:
            return None
        copy = self._copies.get(process)
        if copy is None:
            if len(self._copies) >= MOST_PROCESSES:
                return None
            copy = self._copies[process] = _Copy(run)
        elif copy.run != run:
            # The process has been started again: what it had before is gone.
            copy = self._begin_anew(process, copy, run)
        self._find(process, copy)
        return process, copy, int(note["number"] or 0)

    def _find(self, process: str, copy: _Copy[Row]) -> None:
        """Report the rows of a process that was lost again: it was heard."""
        copy.silent = 0
        if copy.is_lost:
            copy.is_lost = False
            for key, row in list(copy.rows.items()):
                self._changed(process, key, row)

    def _begin_anew(self, process: str, copy: _Copy[Row], run: int) -> _Copy[Row]:
        self._lose(process, copy)
        fresh = self._copies[process] = _Copy[Row](run)
        return fresh

    def _lose(self, process: str, copy: _Copy[Row]) -> None:
        """Report the rows of a process as removed, but keep them until it returns."""
        if copy.is_lost:
            return
        copy.is_lost, copy.is_asking = True, False
        copy.losses += 1
        for key in list(copy.rows):
            self._changed(process, key, None)

    # Questions to other processes.

    def _ask(self, process: str, copy: _Copy[Row]) -> None:
        if not copy.is_asking:
            copy.is_asking = True
            self._spawn(self._catch_up(process, copy))

    async def _catch_up(self, process: str, copy: _Copy[Row]) -> None:
        losses, is_behind = copy.losses, True
        try:
            while is_behind:
                question = {"run": copy.run, "since": copy.number}
                answer = await self._bus.request(self._question(process), question)
                # The process was lost or started again since the question.
                if copy.losses != losses or self._copies.get(process) is not copy:
                    return
                is_behind = self._take(process, copy, answer)
        except EmuError:
            # The process cannot be reached or is faulty: its next digest has this one ask again.
            return
        finally:
            if copy.losses == losses:
                copy.is_asking = False

    def _take(self, process: str, copy: _Copy[Row], answer: Note) -> bool:
        """Apply a page; return whether to ask for the next one. Raises `MalformedMessage`."""
        try:
            run, base, until, number = (
                int(answer[name] or 0) for name in ("run", "base", "until", "number")
            )
            changes = self._parsed(json.loads(str(answer["changes"])))
        except (KeyError, TypeError, ValueError) as error:
            raise MalformedMessage(f"rows of {process}: {error}") from error
        before = copy.number
        self._find(process, copy)
        if not base:
            copy.unconfirmed = set(copy.rows)
        if copy.run != run:
            copy.run, copy.heard = run, 0
        for change in changes:
            copy.unconfirmed.discard(change.key)
            self._apply(process, copy, change)
        copy.number = until
        if until >= number:
            # A row that was not among all the rows does not exist any more.
            for key in copy.unconfirmed:
                self._apply(process, copy, SharedChange(key, None))
            copy.unconfirmed = set()
        # Only with progress: a faulty process must not keep this one asking for ever.
        return max(copy.heard, number) > until != before

    def _parsed(self, changes: Sequence[tuple[Any, Values | None]]) -> list[SharedChange[Row]]:
        return [
            SharedChange(int(key), None if values is None else self._read(values))
            for key, values in changes
        ]

    def _apply(self, process: str, copy: _Copy[Row], change: SharedChange[Row]) -> None:
        if change.row is not None:
            copy.rows[change.key] = change.row
        elif copy.rows.pop(change.key, None) is None:
            return
        if not copy.is_lost:
            self._changed(process, change.key, change.row)


def run_now(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that never waits: `Spawn` for a bus within one process."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("the coroutine waits")
