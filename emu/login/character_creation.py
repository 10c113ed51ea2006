"""Create requests: read, converted into rows, and kept until the world answers.

This module decides what happens to each field of a create request
(docs/protocol/characters.md#create, docs/protocol/characters.md#looks). It sends and stores
nothing.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emu.appearance import SLIDER_FIELDS, slider
from emu.dialects import Dialect
from emu.dialects.dialect import read_name
from emu.errors import MalformedMessage
from emu.login.character_list import color_row, color_row_of_bytes, slider_row
from emu.login.client import Client
from emu.model import Character, Color, CreateResponse
from emu.times import Moment, Monotonic

# A create request names the files of models, but the character list sends their numbers.
_MODEL_FILES = {
    "race_file": "race_type",
    "hair_file": "hair_type",
    "face_file": "hair_face_type",
    "wing_file": "wing_type",
    "chest_file": "chest_type",
    "legs_file": "legs_type",
}
MODEL_FIELDS: Mapping[str, str] = {
    prefix + name: prefix + model
    for prefix in ("", "soga_")
    for name, model in _MODEL_FILES.items()
}
"""Model path field of the request -> profile field that holds the model's number."""


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """The fields of a create request that the login service keeps.

    The world gets the client's bytes.
    """

    world_id: int
    raw_name: str
    race: int
    class_: int
    gender: int
    deity: int
    version: int
    appearance: Mapping[str, int] = field(default_factory=dict)
    colors: Mapping[str, Color] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    """Profile field -> path of the model whose number it needs."""

    @property
    def name(self) -> str:
        """The requested name."""
        return read_name(self.raw_name)

    def with_models(self, numbers: Mapping[str, int]) -> CreateRequest:
        """Return the request with the numbers of its models; `numbers` has the known ones."""
        known = {name: numbers[path] for name, path in self.models.items() if path in numbers}
        return replace(self, appearance={**self.appearance, **known})

    def character(self, account_id: int, char_id: int, moment: Moment) -> Character:
        """Return the row of a character that its world has just created."""
        return Character(
            id=0,
            account_id=account_id,
            world_id=self.world_id,
            char_id=char_id,
            name=self.name,
            race=self.race,
            class_=self.class_,
            gender=self.gender,
            deity=self.deity,
            created=moment,
            client_version=self.version,
            appearance=self.appearance,
            colors=self.colors,
        )


def read_create_request(payload: bytes, dialect: Dialect) -> CreateRequest:
    """Read a create request in any of its layouts.

    Raises `MalformedMessage` when the fields before the appearance cannot be read.
    """
    values = _read(payload, dialect)
    return CreateRequest(
        world_id=values["server_id"],
        raw_name=values["name"],
        race=values["race"],
        class_=values["class"],
        gender=values["gender"],
        deity=values["deity"],
        version=dialect.version,
        appearance={"body_size": slider(values.get("body_size", 0.0))},
        colors=_colors(values, signed=dialect.rules.signed_colors),
        models={
            field: read_name(values[name])
            for name, field in MODEL_FIELDS.items()
            if values.get(name)
        },
    )


def _read(payload: bytes, dialect: Dialect) -> dict[str, Any]:
    """Read a request with the layout that fits its exact size, or else with the usual one."""
    if dialect.rules.bare_create_request:
        try:
            # `decode` accepts the exact size only, so a request with the 26 further bytes does not
            # fit here.
            return dialect.layout("CreateCharacterBare").decode(payload)
        except MalformedMessage:
            pass
    return dialect.layout("CreateCharacter").decode_short(payload)


def _colors(values: Mapping[str, Any], *, signed: bool) -> dict[str, Color]:
    colors: dict[str, Color] = {}
    for name, value in values.items():
        if name in SLIDER_FIELDS:
            colors[SLIDER_FIELDS[name]] = slider_row(value)
        elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3:
            # Some layouts have colors as floats and others as bytes; the types of the values show
            # which.
            whole = all(isinstance(part, int) for part in value)
            colors[name] = color_row_of_bytes(value) if whole else color_row(value, signed=signed)
    return colors


MOST_UNANSWERED = 4
"""Unanswered requests of one account at one world above which further ones are refused."""


@dataclass(slots=True)
class PendingCreate:
    """One create request that a world has not answered."""

    account_id: int
    account_name: str
    address: str
    request: CreateRequest
    expires: float
    client: Client | None
    """None once the client's session is over; the answer still creates the row."""
    is_awaited: bool = True
    """Whether the client still waits: its session is up and the request has not timed out."""


class PendingCreates:
    """Create requests that worlds have not answered, in the order they were sent.

    A world answers in order and names only the account, so an answer belongs to the oldest request
    of that account. Requests stay here after their client has left or timed out, because the world
    may have created the character all the same (EQ2Emulator's login server loses it). A request
    past its `expires` is removed when the next request comes.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[int, int], deque[PendingCreate]] = OrderedDict()
        self._awaited: dict[Client, PendingCreate] = {}

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._waiting.values())

    def add_request(self, pending: PendingCreate, now: Monotonic) -> bool:
        """Add a request; return False when the account has one waiting, or too many unanswered."""
        self._expire(now)
        # Queues for each world and account, because an answer names no more than these.
        key = (pending.request.world_id, pending.account_id)
        queue = self._waiting.setdefault(key, deque())
        if len(queue) >= MOST_UNANSWERED or any(other.is_awaited for other in queue):
            return False
        queue.append(pending)
        # One timed-out request may still be answered, so a queue may hold several; only one is
        # awaited.
        # The oldest queue stays in front, so expiry ends at the first queue with a newer request.
        self._waiting.move_to_end(key)
        if pending.client is not None:
            self._awaited[pending.client] = pending
        return True

    def awaited_by(self, client: Client) -> PendingCreate | None:
        """Return the request whose answer a client waits for."""
        return self._awaited.get(client)

    def wait_no_longer(self, pending: PendingCreate) -> None:
        """Mark a request as timed out for its client; it stays here until it is answered."""
        pending.is_awaited = False
        if pending.client is not None:
            self._awaited.pop(pending.client, None)

    def client_gone(self, client: Client) -> None:
        """Detach a client whose session is over from its requests."""
        pending = self.awaited_by(client)
        if pending is not None:
            self.wait_no_longer(pending)
            # The request stays in its queue without its client: the world's answer still creates
            # the row.
            pending.client = None

    def answered(self, answer: CreateResponse) -> PendingCreate | None:
        """Remove and return the request that an answer belongs to.

        Account 0 means that the world could not read the request. The answer then belongs to the
        only client that waits for this world, if there is exactly one.
        """
        if answer.account_id:
            return self._take((answer.world_id, answer.account_id))
        # With two or more such clients the answer could belong to any of them, so it belongs to
        # none.
        keys = [
            key
            for key, queue in self._waiting.items()
            if key[0] == answer.world_id and any(one.is_awaited for one in queue)
        ]
        return self._take(keys[0]) if len(keys) == 1 else None

    def world_gone(self, world_id: int) -> list[PendingCreate]:
        """Remove and return every request to a world whose link is down.

        It can no longer answer.
        """
        gone: list[PendingCreate] = []
        for key in [key for key in self._waiting if key[0] == world_id]:
            gone.extend(self._waiting.pop(key))
        return gone

    def withdraw(self, pending: PendingCreate) -> None:
        """Remove a request that never reached its world."""
        key = (pending.request.world_id, pending.account_id)
        queue = self._waiting.get(key)
        if queue and pending in queue:
            queue.remove(pending)
            if not queue:
                del self._waiting[key]

    def _take(self, key: tuple[int, int]) -> PendingCreate | None:
        queue = self._waiting.get(key)
        if not queue:
            return None
        taken = queue.popleft()
        if not queue:
            del self._waiting[key]
        return taken

    def _expire(self, now: Monotonic) -> None:
        for key, queue in list(self._waiting.items()):
            while queue and queue[0].expires <= now:
                queue.popleft()
            if queue:
                break  # Keys are in the order of their newest request.
            del self._waiting[key]
