"""A member's remote procedure calls to the hub: world keys, characters, models, leases.

A process that loses the hub keeps serving its players, who may meanwhile enter in another process.
The process that uses a character's key holds the lease of the character from then on, and only the
holder may store its state.

The methods have the signatures of the ports; both sides read the types of the values from their
annotations. Each call raises `StoreError` when the hub cannot be reached or fails, and `OutOfDate`
for a character whose lease another process holds.
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
    MemoryStore,
    ModelSource,
    Note,
    Subscription,
    WorldCharacterStore,
)


def to_text(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def from_text(kind: Any, text: str) -> Any:
    """Return the value of a type from its JSON. Raises `MalformedMessage`."""
    try:
        return _made(kind, json.loads(text))
    # A member of another version may send other fields; that must not look like a fault of the hub.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise MalformedMessage("a value that is not of its kind") from None


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value)


def _made(kind: Any, plain: Any) -> Any:
    """Return the value of a type from its JSON form; raises what the constructors raise."""
    origin, arguments = get_origin(kind), get_args(kind)
    value = plain
    if is_dataclass(kind):
        made: Any = kind
        # Resolved once for each type: reading annotations costs more than making the value.
        hints = _hints(made)
        value = made(**{one.name: _made(hints[one.name], plain[one.name]) for one in fields(kind)})
    elif origin in (Union, UnionType):
        # Plain values are the same in JSON; only a container needs the type that is not None.
        if isinstance(plain, (dict, list)):
            value = _made(next(one for one in arguments if one is not type(None)), plain)
    # Fixed length: each item has a type of its own. `tuple[int, ...]` is the next case.
    elif origin is tuple and arguments[-1] is not Ellipsis:
        value = tuple(_made(one, item) for one, item in zip(arguments, plain, strict=True))
    elif origin is tuple:
        value = tuple(_made(arguments[0], item) for item in plain)
    elif origin in (list, Sequence):
        value = [_made(arguments[0], item) for item in plain]
    elif origin is Mapping:
        value = {name: _made(arguments[1], item) for name, item in plain.items()}
    return value


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


class Leases:
    """The hub's leases: which process plays each character."""

    __slots__ = ("_holders",)

    def __init__(self) -> None:
        self._holders: dict[int, str] = {}

    def take(self, char_id: int, process: str) -> None:
        """Record that a process plays a character from now on."""
        # The earlier holder is not asked: it may be a process that cannot be reached.
        self._holders[char_id] = process

    def may_store(self, char_id: int, process: str) -> bool:
        """Return whether a process may store a character.

        The first one to store it gets the lease.
        """
        # After a restart the hub has no leases. The first process that saves a character has played
        # it all along, so it gets the lease.
        return self._holders.setdefault(char_id, process) == process


class LeasedKeys:
    """`HandoffKeys` of one process: using a key takes the lease of its character."""

    def __init__(self, keys: HandoffKeys, leases: Leases, process: str) -> None:
        self._keys = keys
        self._leases = leases
        self._process = process
        # The other methods need no lease, so they are those of the wrapped object.
        self.issue = keys.issue
        self.withdraw = keys.withdraw
        self.withdraw_account = keys.withdraw_account
        self.withdraw_entries = keys.withdraw_entries
        self.held_by_others = keys.held_by_others

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Use a key; return None if it is unknown, used, too old or another account's."""
        found = await self._keys.redeem(account_id, key)
        if found is not None:
            self._leases.take(found.char_id, self._process)
        return found


class LeasedCharacters:
    """`WorldCharacterStore` for the hub's own players: saves only characters that the hub leases.

    A save that was retried may arrive after the character has moved to a member.
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
        """Store the state of a character. Raises `OutOfDate` when a member has its lease."""
        if not self._leases.may_store(char_id, self._process):
            raise OutOfDate("another process plays that character now")
        await self._store.save_character(char_id, state)


P = ParamSpec("P")
T = TypeVar("T")

TOPIC: Final = "hub.call"


class RemoteProcedures:
    """A member's calls to the hub."""

    def __init__(self, bus: Bus, process: str) -> None:
        self._bus = bus
        self._process = process

    async def ask(self, name: str, arguments: tuple[Any, ...], result: Any) -> Any:
        """Call a procedure and return its result, a value of the type `result`.

        Raises `OutOfDate` when another process has the lease, `LimitExceeded` as the hub does, and
        `StoreError` for any other failure.
        """
        note = {"process": self._process, "call": name, "arguments": to_text(arguments)}
        try:
            answered = await self._bus.request(TOPIC, note)
            # Errors cross the bus as texts. These two have a field, because callers act on them.
            if answered.get("out_of_date"):
                raise OutOfDate("another process plays that character now")
            if "limit" in answered:
                raise LimitExceeded(str(answered["limit"]))
            return from_text(result, str(answered["result"]))
        # The callers know only stores, so every failure of the bus becomes a `StoreError`.
        except Unanswered as error:
            raise StoreError(f"the hub cannot be reached now: {error}") from None
        except (CommandError, LocalProtocolError, MalformedMessage) as error:
            raise StoreError(str(error)) from None


class RemotePort:
    """A port that the hub implements; `place` is its name in a call."""

    place: ClassVar[str]

    def __init__(self, procedures: RemoteProcedures) -> None:
        self.procedures = procedures


class RemoteMethod(Generic[P, T]):
    """A method of a port that the hub runs."""

    def __init__(
        self,
        method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
        *,
        leased: bool = False,
    ) -> None:
        """With `leased`, only the process that leases the first argument may call it."""
        self._signature = signature(method)
        # In the order of the signature; the type of the result is the last.
        *arguments, self._result = get_type_hints(method).values()
        self.arguments = tuple[tuple(arguments)]  # type: ignore[misc]
        """The types of the arguments, as one tuple type."""
        self.leased = leased

    def __set_name__(self, port: type[RemotePort], name: str) -> None:
        self.name = f"{port.place}.{name}"

    def __get__(
        self, port: RemotePort, owner: type[RemotePort]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        async def call(*values: P.args, **named: P.kwargs) -> T:
            bound = self._signature.bind(port, *values, **named)
            # The hub gets every argument by position, so missing ones are filled in here.
            bound.apply_defaults()
            # Without the port itself, which stands for `self`.
            answered: T = await port.procedures.ask(self.name, bound.args[1:], self._result)
            return answered

        return call


class RemoteKeys(RemotePort):
    """Implements `emu.processes.ports.HandoffKeys`."""

    place = "keys"
    issue = RemoteMethod(HandoffKeys.issue)
    redeem = RemoteMethod(HandoffKeys.redeem)
    withdraw = RemoteMethod(HandoffKeys.withdraw)
    withdraw_account = RemoteMethod(HandoffKeys.withdraw_account)
    withdraw_entries = RemoteMethod(HandoffKeys.withdraw_entries)
    held_by_others = RemoteMethod(HandoffKeys.held_by_others)


class RemoteCharacters(RemotePort):
    """Implements `emu.processes.ports.WorldCharacterStore`."""

    place = "characters"
    create = RemoteMethod(WorldCharacterStore.create)
    find = RemoteMethod(WorldCharacterStore.find)
    find_named = RemoteMethod(WorldCharacterStore.find_named)
    of_account = RemoteMethod(WorldCharacterStore.of_account)
    delete = RemoteMethod(WorldCharacterStore.delete)
    set_admin_status = RemoteMethod(WorldCharacterStore.set_admin_status)
    save_character = RemoteMethod(WorldCharacterStore.save_character, leased=True)
    mute_account = RemoteMethod(WorldCharacterStore.mute_account)
    standings = RemoteMethod(WorldCharacterStore.standings)


class RemoteAccountGate(RemotePort):
    """Implements `emu.processes.ports.AccountGate`."""

    place = "accounts"
    kept_out = RemoteMethod(AccountGate.kept_out)


class RemoteMemories(RemotePort):
    """Implements `emu.processes.ports.MemoryStore`."""

    place = "memories"
    of_zone = RemoteMethod(MemoryStore.of_zone)
    save_memories = RemoteMethod(MemoryStore.save_memories)


class RemoteModels(RemotePort):
    """Implements `emu.processes.ports.ModelSource`."""

    place = "models"
    model_numbers = RemoteMethod(ModelSource.model_numbers)


CALLS: Final = {
    call.name: call
    for port in (RemoteKeys, RemoteCharacters, RemoteAccountGate, RemoteMemories, RemoteModels)
    for call in vars(port).values()
    if isinstance(call, RemoteMethod)
}
"""All procedures of the hub, by name."""


class RemoteProcedureServer:
    """The hub's side of the calls; `port` returns the port of a name for a process."""

    def __init__(self, port: Callable[[str, str], Any], leases: Leases) -> None:
        self._port = port
        self._leases = leases

    def open(self, bus: Bus) -> Subscription:
        """Begin to answer calls."""
        return bus.answer(TOPIC, self._answer)

    async def _answer(self, note: Note) -> Note:
        process, name = str(note["process"]), str(note["call"])
        # Only methods of this table can be called: the name comes from another process.
        call = CALLS.get(name)
        if call is None:
            raise CommandError(f"the hub has no call {name}; do both run the same version?")
        arguments = from_text(call.arguments, str(note["arguments"]))
        # Checked at the hub, in the order of arrival: a member that was cut off may send a save
        # after the character has entered elsewhere.
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
