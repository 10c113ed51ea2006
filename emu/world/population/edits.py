"""Edits of the content file that game masters make in the game.

An edit is a row of the server database: subject, number, column, new value, author and time. It is
laid over the content file and the zone files when a zone is read. A new edit reads the running
zones again, which changes only what differs, on every node of the world.
Source: docs/guides/content.md#edits.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Protocol

from emu.content.layers import (
    OWN_NUMBERS,
    PLACEMENT,
    REMOVED,
    SUBJECTS,
    ZONE,
    Edit,
    read_edits,
    read_value,
)
from emu.errors import EmuError
from emu.processes.ports import Bus, ContentEdit, ContentEditStore
from emu.schema.writing import toml_value
from emu.times import Moment

CHANGED: Final = "world.content_edits"
"""Topic on the bus: another process, ``process``, has stored edits."""
OWN_RANGE: Final = 2**40
"""How many numbers of one's own there are."""
Stored = Callable[[str, int, str], Awaitable[Any]]
"""Returns the content file's value of a subject's column; None if it has no such subject."""


class Refreshed(Protocol):
    """Reads running zones again; `emu.world.population.served.ContentZones` does."""

    async def refresh(self) -> Sequence[str]:
        """Change in all running zones what differs."""


class GameEdits:
    """All edits of a world, and the making of new ones."""

    def __init__(
        self,
        store: ContentEditStore,
        bus: Bus,
        process: str,
        zones: Refreshed,
        stored: Stored,
        *,
        start: Callable[[Coroutine[Any, Any, None]], object],
        failed: Callable[[str], object],
        choose: Callable[[int], int],
    ) -> None:
        """`start` runs a coroutine that nobody awaits; `failed` reports a line to operators.

        `choose` returns a random number from 0 to one below the argument: two nodes must not choose
        the same number for what they add.
        """
        self.edits: Sequence[Edit] = ()
        """What is laid over zones that are read from now on."""
        self._store = store
        self._bus = bus
        self._process = process
        self._zones = zones
        self._stored = stored
        self._start = start
        self._failed = failed
        self._choose = choose
        bus.subscribe(CHANGED, self._heard)

    async def load(self) -> None:
        """Read all edits. Raises `StoreError`."""
        rows, faults = await self._store.every(), []
        edits = []
        for row in rows:
            try:
                edits.append(edit_of(row))
            except ValueError as error:
                faults.append(f"{row.subject} {row.number}: {error}")
        self.edits = edits
        if faults:
            self._failed(f"{len(faults)} edits have no effect; the first: {faults[0]}")

    def start(self) -> None:
        """Begin to read the edits; zones that run by then are changed."""
        self._start(self._apply())

    async def change(
        self, subject: str, number: int, values: Mapping[str, Any], author: str, moment: Moment
    ) -> None:
        """Store new values of a subject's columns, and apply them in all zones and processes.

        Raises `ValueError` for a value that does not fit, and `EmuError`.
        """
        rows = [
            ContentEdit(
                *one[:3], json.dumps(one.value), json.dumps(await self._stored(*one[:3])),
                author, moment,
            )
            for one in read_edits(subject, number, values)
        ]  # fmt: skip
        await self._store.save_edits(rows)
        await self._changed()

    async def add_placement(self, values: Mapping[str, Any], author: str, moment: Moment) -> int:
        """Add a placement with a number of its own; return the number."""
        number = OWN_NUMBERS + self._choose(OWN_RANGE)
        await self.change(PLACEMENT, number, values, author, moment)
        return number

    async def undo(self, subject: str, number: int) -> int:
        """Remove all edits of a subject; return how many there were. Raises `EmuError`."""
        count = await self._store.remove(subject, number)
        await self._changed()
        return count

    async def _changed(self) -> None:
        await self.load()
        self._bus.publish(CHANGED, {"process": self._process})
        await self._zones.refresh()

    def _heard(self, note: Mapping[str, Any]) -> None:
        if note.get("process") != self._process:
            self._start(self._apply())

    async def _apply(self) -> None:
        try:
            had_some = bool(self.edits)
            await self.load()
            # Also when another node has removed the last edit.
            if had_some or self.edits:
                await self._zones.refresh()
        except EmuError as error:
            self._failed(f"edits of the content file were not applied: {error}")


def edit_of(row: ContentEdit) -> Edit:
    """Return a stored edit. Raises `ValueError` if it does not fit this version of the server."""
    if row.subject not in SUBJECTS:
        raise ValueError(f"there is no subject {row.subject!r}")
    return Edit(
        row.subject, row.number, row.name, read_value(row.subject, row.name, json.loads(row.value))
    )


def conflict(row: ContentEdit, stored: Any) -> str:
    """Return how a content file has changed under an edit; "" if it has not.

    `stored` is what the file has there now; None: it does not have the subject any more.
    """
    old = json.loads(row.old)
    # An own placement was never in a content file.
    if old is None or stored == old:
        return ""
    if stored is None:
        return "is no longer in the content file"
    return f"the content file had {row.old}, and has {json.dumps(stored)} now"


def edits_text(rows: Sequence[ContentEdit], zone_id: int) -> str:
    """Return edits as tables of a zone file that extends a zone of the content file."""
    lines = ["[zone]", f"id = {zone_id}", "extends = true"]
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        found.setdefault((row.subject, row.number), {})[row.name] = json.loads(row.value)
    for (subject, number), values in found.items():
        if REMOVED in values:
            lines += ["", "[[remove]]", f"{subject} = {number}"]
            continue
        is_own = subject == PLACEMENT and number >= OWN_NUMBERS
        head = f"[[placement]]\nid = {number}" if is_own else f"[[change]]\n{subject} = {number}"
        if is_own:
            values.pop(ZONE, None)
        lines += ["", head, *(f"{name} = {toml_value(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"
