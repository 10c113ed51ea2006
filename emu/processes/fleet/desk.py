"""The hub's desk: it answers what members ask of its hand-off keys and its stores, see `remote`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from emu.errors import CommandError, LimitExceeded
from emu.processes.fleet.leases import Leases
from emu.processes.fleet.records import from_text, to_text
from emu.processes.fleet.remote import CALLS, TOPIC
from emu.processes.ports import Bus, Note, Subscription


class Desk:
    """Answers for the hub. `port` returns what a process' call is one of: for ``keys``, say."""

    def __init__(self, port: Callable[[str, str], Any], leases: Leases) -> None:
        self._port = port
        self._leases = leases

    def open(self, bus: Bus) -> Subscription:
        """Begin to answer."""
        return bus.answer(TOPIC, self._answer)

    async def _answer(self, note: Note) -> Note:
        process, name = str(note["process"]), str(note["call"])
        call = CALLS.get(name)
        if call is None:
            raise CommandError(f"the hub has no call {name}; do both run the same version?")
        arguments = from_text(call.arguments, str(note["arguments"]))
        if call.leased and not self._leases.may_store(arguments[0], process):
            return {"out_of_date": True}
        place, _, method = name.partition(".")
        answer: Callable[..., Awaitable[Any]] = getattr(self._port(place, process), method)
        try:
            return {"result": to_text(await answer(*arguments))}
        except LimitExceeded as error:
            return {"limit": error.reason}
