"""What a member asks the hub for: world keys, characters, models, leases; and the hub's answers.

A process that was cut off goes on with whom it has; meanwhile they may come in elsewhere. Whoever
takes a character's key back plays it from then on, and only that process may store its state.

Signatures are the ports'; what travels is read from their type hints, at both ends. Each call
raises `StoreError` when the hub cannot be reached or cannot do it, and `OutOfDate` for a character
that another process plays by now.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from inspect import signature
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from emu.errors import (
    CommandError,
    LimitExceeded,
    LocalProtocolError,
    MalformedMessage,
    OutOfDate,
    StoreError,
    Unanswered,
)
from emu.model import Handoff, SavedState
from emu.processes.ports import (
    AccountGate,
    Bus,
    HandoffKeys,
    ModelSource,
    Note,
    Subscription,
    WorldCharacterStore,
)


def to_text(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def from_text(kind: Any, text: str) -> Any:
    """Return the value of a kind that a text stands for. Raises `MalformedMessage`."""
    try:
        return _made(kind, json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MalformedMessage("a value that is not of its kind") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value)


def _made(kind: Any, plain: Any) -> Any:
    if is_dataclass(kind):
        made: Any = kind
        hints = _hints(made)
        names = [item.name for item in fields(kind)]
        return made(**{name: _made(hints[name], plain[name]) for name in names})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if plain is None or not isinstance(plain, (dict, list)):
            return plain
        return _made(next(one for one in arguments if one is not type(None)), plain)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return tuple(_made(arguments[0], one) for one in plain)
        return tuple(_made(one, part) for one, part in zip(arguments, plain, strict=True))
    if origin in (list, Sequence):
        return [_made(arguments[0], one) for one in plain]
    if origin is Mapping:
        return {name: _made(arguments[1], one) for name, one in plain.items()}
    return plain


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


class Leases:
    """Characters and their processes, kept by the hub."""

    __slots__ = ("_holders",)

    def __init__(self) -> None:
        self._holders: dict[int, str] = {}

    def take(self, char_id: int, process: str) -> None:
        """Note that a process plays a character from now on."""
        self._holders[char_id] = process

    def may_store(self, char_id: int, process: str) -> bool:
        """Say whether a process may store a character; the first that does holds it."""
        return self._holders.setdefault(char_id, process) == process


class LeasedKeys:
    """`HandoffKeys` as one process uses them: who redeems a key plays its character."""

    def __init__(self, keys: HandoffKeys, leases: Leases, process: str) -> None:
        self._keys = keys
        self._leases = leases
        self._process = process
        self.issue = keys.issue
        self.withdraw = keys.withdraw
        self.withdraw_account = keys.withdraw_account
        self.withdraw_entries = keys.withdraw_entries
        self.held_by_others = keys.held_by_others

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take a key back; None when it is unknown, used, too old or another account's."""
        found = await self._keys.redeem(account_id, key)
        if found is not None:
            self._leases.take(found.char_id, self._process)
        return found


class LeasedCharacters:
    """`WorldCharacterStore` as the hub uses it for its own players: it saves those that it plays.

    A save that had to be tried again may come after the character went to a member.
    """

    def __init__(self, store: WorldCharacterStore, leases: Leases, process: str) -> None:
        self._store = store
        self._leases = leases
        self._process = process
        self.create = store.create
        self.find = store.find
        self.find_named = store.find_named
        self.of_account = store.of_account
        self.delete = store.delete
        self.set_admin_status = store.set_admin_status
        self.mute_account = store.mute_account
        self.standings = store.standings

    async def save_character(self, char_id: int, state: SavedState) -> None:
        """Store what a save says. Raises `OutOfDate` when a member plays the character."""
        if not self._leases.may_store(char_id, self._process):
            raise OutOfDate("another process plays that character now")
        await self._store.save_character(char_id, state)


P = ParamSpec("P")
T = TypeVar("T")

TOPIC: Final = "hub.call"


class RemoteProcedures:
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

    def __init__(self, counter: RemoteProcedures) -> None:
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
            bound = self._signature.bind(port, *values, **named)
            bound.apply_defaults()
            told: T = await port.counter.ask(self.name, bound.args[1:], self._result)
            return told

        return call


class RemoteKeys(RemotePort):
    """Implements `emu.processes.ports.HandoffKeys`."""

    place = "keys"
    issue = Asked(HandoffKeys.issue)
    redeem = Asked(HandoffKeys.redeem)
    withdraw = Asked(HandoffKeys.withdraw)
    withdraw_account = Asked(HandoffKeys.withdraw_account)
    withdraw_entries = Asked(HandoffKeys.withdraw_entries)
    held_by_others = Asked(HandoffKeys.held_by_others)


class RemoteCharacters(RemotePort):
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    place = "characters"
    create = Asked(WorldCharacterStore.create)
    find = Asked(WorldCharacterStore.find)
    find_named = Asked(WorldCharacterStore.find_named)
    of_account = Asked(WorldCharacterStore.of_account)
    delete = Asked(WorldCharacterStore.delete)
    set_admin_status = Asked(WorldCharacterStore.set_admin_status)
    save_character = Asked(WorldCharacterStore.save_character, leased=True)
    mute_account = Asked(WorldCharacterStore.mute_account)
    standings = Asked(WorldCharacterStore.standings)


class RemoteAccountGate(RemotePort):
    """Implements `emu.processes.ports.AccountGate`."""

    place = "accounts"
    kept_out = Asked(AccountGate.kept_out)


class RemoteModels(RemotePort):
    """Implements `emu.processes.ports.ModelSource`."""

    place = "models"
    model_numbers = Asked(ModelSource.model_numbers)


CALLS: Final = {
    call.name: call
    for port in (RemoteKeys, RemoteCharacters, RemoteAccountGate, RemoteModels)
    for call in vars(port).values()
    if isinstance(call, Asked)
}
"""All that may be asked of the hub, by name."""


class RemoteProcedureServer:
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
        except OutOfDate:
            return {"out_of_date": True}
        except LimitExceeded as error:
            return {"limit": error.reason}
