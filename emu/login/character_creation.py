"""Create requests: read, made into rows, and kept until the world has answered.

Owns what becomes of each field of a create request (docs/protocol/characters.md#create,
docs/protocol/characters.md#looks). Sends nothing and stores nothing.
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
"""Model path fields of the request -> the profile field that holds the model's number."""


@dataclass(frozen=True, slots=True)
class CreateRequest:
    """What the login service keeps of a create request; the world gets the client's own bytes."""

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
    """Profile field -> path of the model whose number belongs there."""

    @property
    def name(self) -> str:
        """The wanted name."""
        return read_name(self.raw_name)

    def with_models(self, numbers: Mapping[str, int]) -> CreateRequest:
        """Return the request with the numbers of its models; `numbers` has those that are known."""
        known = {name: numbers[path] for name, path in self.models.items() if path in numbers}
        return replace(self, appearance={**self.appearance, **known})

    def character(self, account_id: int, char_id: int, moment: Moment) -> Character:
        """Return the row of a character that its world has just made and nobody has played."""
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
    """Read a request with the layout that fits it to the last byte, or else with the usual one."""
    if dialect.rules.bare_create_request:
        try:
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
            whole = all(isinstance(part, int) for part in value)
            colors[name] = color_row_of_bytes(value) if whole else color_row(value, signed=signed)
    return colors


MOST_UNANSWERED = 4
"""Requests of one account that one world may leave unanswered before further ones are refused."""


@dataclass(slots=True)
class PendingCreate:
    """One create request on its way to a world and back."""

    account_id: int
    account_name: str
    address: str
    request: CreateRequest
    expires: float
    client: Client | None
    """None once the session that asked is over; the answer still makes the row."""
    is_awaited: bool = True
    """The client waits: it is still there, and has not been told to wait no longer."""


class PendingCreates:
    """Create requests that worlds have not answered, in the order they were sent.

    A world answers in order and names the account only, so the oldest request of that account
    belongs to an answer. Requests are kept when their client is gone or has been told to wait no
    longer: the world may have made the character all the same (EQ2Emulator's login server loses
    it). What is older than its `expires` goes when the next request comes.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[int, int], deque[PendingCreate]] = OrderedDict()
        self._awaited: dict[Client, PendingCreate] = {}

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._waiting.values())

    def add(self, pending: PendingCreate, now: Monotonic) -> bool:
        """Keep a request; False when the account has one waiting, or too many unanswered."""
        self._expire(now)
        key = (pending.request.world_id, pending.account_id)
        queue = self._waiting.setdefault(key, deque())
        if len(queue) >= MOST_UNANSWERED or any(other.is_awaited for other in queue):
            return False
        queue.append(pending)
        self._waiting.move_to_end(key)
        if pending.client is not None:
            self._awaited[pending.client] = pending
        return True

    def awaited_by(self, client: Client) -> PendingCreate | None:
        """Return the request whose answer a client waits for."""
        return self._awaited.get(client)

    def wait_no_longer(self, pending: PendingCreate) -> None:
        """Note that the client is not to wait any more; the request stays if it is unanswered."""
        pending.is_awaited = False
        if pending.client is not None:
            self._awaited.pop(pending.client, None)

    def client_gone(self, client: Client) -> None:
        """Note that a client's session is over."""
        pending = self.awaited_by(client)
        if pending is not None:
            self.wait_no_longer(pending)
            pending.client = None

    def answered(self, answer: CreateResponse) -> PendingCreate | None:
        """Take out the request that an answer belongs to.

        Account 0 means that the world could not read the request: it belongs to the only client
        that waits for this world, if there is exactly one.
        """
        if answer.account_id:
            return self._take((answer.world_id, answer.account_id))
        keys = [
            key
            for key, queue in self._waiting.items()
            if key[0] == answer.world_id and any(one.is_awaited for one in queue)
        ]
        return self._take(keys[0]) if len(keys) == 1 else None

    def world_gone(self, world_id: int) -> list[PendingCreate]:
        """Take out every request to a world whose link is down; no answer can come any more."""
        gone: list[PendingCreate] = []
        for key in [key for key in self._waiting if key[0] == world_id]:
            gone.extend(self._waiting.pop(key))
        return gone

    def withdraw(self, pending: PendingCreate) -> None:
        """Take out a request that never reached its world."""
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
                break  # keys are in the order of their newest request
            del self._waiting[key]
