"""What members may ask of the hub: its hand-off keys, and what it stores of the world.

`CALLS` says what each call takes and returns. The hub's `Desk` answers, a member's `Counter` asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emu.errors import (
    CommandError,
    LimitExceeded,
    LocalProtocolError,
    MalformedMessage,
    OutOfDate,
    StoreError,
    Unanswered,
)
from emu.model import Handoff, Hotkey, Membership, Place, Title, WorldCharacter
from emu.processes.fleet.leases import Leases
from emu.processes.fleet.records import from_text, to_text
from emu.processes.ports import Bus, Note, Subscription

TOPIC: Final = "hub.call"
Arguments = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Signature:
    """Kinds of the arguments and of the result."""

    arguments: Arguments
    result: Any = None
    leased: bool = False
    """Whether only the process that plays the character, the first argument, may call it."""


CALLS: Final[Mapping[str, Signature]] = {
    "keys.issue": Signature((int, int, str), int),
    "keys.redeem": Signature((int, int), Handoff | None),
    "keys.withdraw": Signature((int,)),
    "keys.withdraw_account": Signature((int,)),
    "keys.held_by_others": Signature((int,), int),
    "characters.create": Signature((WorldCharacter,), WorldCharacter),
    "characters.find": Signature((int,), WorldCharacter | None),
    "characters.find_named": Signature((str,), WorldCharacter | None),
    "characters.of_account": Signature((int,), Sequence[WorldCharacter]),
    "characters.delete": Signature((int, int), bool),
    "characters.set_admin_status": Signature((int, int)),
    "characters.played": Signature((int, float), leased=True),
    "characters.save_place": Signature((int, int, Place), leased=True),
    "characters.save_mute": Signature((int, float), leased=True),
    "belongings.save_relations": Signature((int, Sequence[tuple[int, str]]), leased=True),
    "belongings.save_titles": Signature((int, Sequence[Title], str, str), leased=True),
    "belongings.save_hotkeys": Signature((int, Sequence[Hotkey]), leased=True),
    "belongings.save_channels": Signature((int, Sequence[Membership]), leased=True),
    "models.model_numbers": Signature((Sequence[str],), Mapping[str, int]),
}


class Desk:
    """The hub's side. `room` returns what a process' call belongs to: `keys`, `characters` ..."""

    def __init__(self, room: Callable[[str, str], Any], leases: Leases) -> None:
        self._room = room
        self._leases = leases

    def open(self, bus: Bus) -> Subscription:
        """Begin to answer."""
        return bus.answer(TOPIC, self._answer)

    async def _answer(self, note: Note) -> Note:
        process, name = str(note["process"]), str(note["call"])
        signature = CALLS.get(name)
        if signature is None:
            raise CommandError(f"the hub has no call {name}; do both run the same version?")
        arguments = from_text(tuple[signature.arguments], str(note["arguments"]))  # type: ignore[name-defined]
        if signature.leased and not self._leases.may_store(arguments[0], process):
            return {"out_of_date": True}
        place, _, method = name.partition(".")
        call: Callable[..., Awaitable[Any]] = getattr(self._room(place, process), method)
        try:
            return {"result": to_text(await call(*arguments))}
        except LimitExceeded as error:
            return {"limit": error.reason}


class Counter:
    """A member's side: `ask` makes one call."""

    def __init__(self, bus: Bus, process: str) -> None:
        self._bus = bus
        self._process = process

    async def ask(self, name: str, *arguments: Any) -> Any:
        """Return what the hub answers.

        Raises `OutOfDate` when another process plays the character, `LimitExceeded` as the hub
        does, and `StoreError` for all else that goes wrong.
        """
        note = {"process": self._process, "call": name, "arguments": to_text(arguments)}
        try:
            told = await self._bus.request(TOPIC, note)
            if told.get("out_of_date"):
                raise OutOfDate("another process plays that character now")
            if "limit" in told:
                raise LimitExceeded(str(told["limit"]))
            return from_text(CALLS[name].result, str(told["result"]))
        except Unanswered as error:
            raise StoreError(f"the hub cannot be reached now: {error}") from None
        except (CommandError, LocalProtocolError, MalformedMessage) as error:
            raise StoreError(str(error)) from None
