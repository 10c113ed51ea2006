"""What a member has of the hub, in the form of the ports: one call for each of their methods.

Signatures are the ports'; what travels is read from their type hints, at both ends. Each call
raises `StoreError` when the hub cannot be reached or cannot do it, and `OutOfDate` for a character
that another process plays by now.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import signature
from typing import Any, ClassVar, Concatenate, Final, Generic, ParamSpec, TypeVar, get_type_hints

from emu.errors import (
    CommandError,
    LimitExceeded,
    LocalProtocolError,
    MalformedMessage,
    OutOfDate,
    StoreError,
    Unanswered,
)
from emu.processes.fleet.records import from_text, to_text
from emu.processes.ports import Bus, HandoffKeys
from emu.processes.stores import BelongingsStore, ModelSource, WorldCharacterStore

P = ParamSpec("P")
T = TypeVar("T")

TOPIC: Final = "hub.call"


class Counter:
    """A member's way to the hub's desk: `ask` makes one call."""

    def __init__(self, bus: Bus, process: str) -> None:
        self._bus = bus
        self._process = process

    async def ask(self, name: str, arguments: tuple[Any, ...], result: Any) -> Any:
        """Return what the hub answers, which is of the kind `result`.

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
            return from_text(result, str(told["result"]))
        except Unanswered as error:
            raise StoreError(f"the hub cannot be reached now: {error}") from None
        except (CommandError, LocalProtocolError, MalformedMessage) as error:
            raise StoreError(str(error)) from None


class RemotePort:
    """One port of the hub's; `place` is what its desk calls it."""

    place: ClassVar[str]

    def __init__(self, counter: Counter) -> None:
        self.counter = counter


class Asked(Generic[P, T]):
    """A method of a port that the hub carries out."""

    def __init__(
        self,
        method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
        *,
        leased: bool = False,
    ) -> None:
        """`leased`: only the process that plays the character, the first argument, may call it."""
        self._signature = signature(method)
        *arguments, self._result = get_type_hints(method).values()
        self.arguments = tuple[tuple(arguments)]  # type: ignore[misc]
        """Kinds of the arguments, as one."""
        self.leased = leased

    def __set_name__(self, port: type[RemotePort], name: str) -> None:
        self.name = f"{port.place}.{name}"

    def __get__(
        self, port: RemotePort, owner: type[RemotePort]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        async def call(*values: P.args, **named: P.kwargs) -> T:
            arguments = self._signature.bind(port, *values, **named).args[1:]
            told: T = await port.counter.ask(self.name, arguments, self._result)
            return told

        return call


class RemoteKeys(RemotePort):
    """Implements `emu.processes.ports.HandoffKeys`."""

    place = "keys"
    issue = Asked(HandoffKeys.issue)
    redeem = Asked(HandoffKeys.redeem)
    withdraw = Asked(HandoffKeys.withdraw)
    withdraw_account = Asked(HandoffKeys.withdraw_account)
    held_by_others = Asked(HandoffKeys.held_by_others)


class RemoteCharacters(RemotePort):
    """Implements `emu.processes.stores.WorldCharacterStore`."""

    place = "characters"
    create = Asked(WorldCharacterStore.create)
    find = Asked(WorldCharacterStore.find)
    find_named = Asked(WorldCharacterStore.find_named)
    of_account = Asked(WorldCharacterStore.of_account)
    delete = Asked(WorldCharacterStore.delete)
    set_admin_status = Asked(WorldCharacterStore.set_admin_status)
    played = Asked(WorldCharacterStore.played, leased=True)
    save_place = Asked(WorldCharacterStore.save_place, leased=True)
    save_mute = Asked(WorldCharacterStore.save_mute, leased=True)


class RemoteBelongings(RemotePort):
    """Implements `emu.processes.stores.BelongingsStore`."""

    place = "belongings"
    save_relations = Asked(BelongingsStore.save_relations, leased=True)
    save_titles = Asked(BelongingsStore.save_titles, leased=True)
    save_hotkeys = Asked(BelongingsStore.save_hotkeys, leased=True)
    save_channels = Asked(BelongingsStore.save_channels, leased=True)


class RemoteModels(RemotePort):
    """Implements `emu.processes.stores.ModelSource`."""

    place = "models"
    model_numbers = Asked(ModelSource.model_numbers)


CALLS: Final = {
    call.name: call
    for port in (RemoteKeys, RemoteCharacters, RemoteBelongings, RemoteModels)
    for call in vars(port).values()
    if isinstance(call, Asked)
}
"""All that may be asked of the hub, by name."""
