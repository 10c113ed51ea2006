"""Worlds' reports about characters, zones and bugs, converted into calls of the stores.

Each report becomes one task that stores everything that belongs together. Source:
docs/protocol/link.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial

from emu.errors import EmuError
from emu.link.batches import LoginEquipment, ZoneUpdates
from emu.link.messages import (
    CLASS,
    GENDER,
    LEVEL,
    BasicCharUpdate,
    BugReport,
    CharTimeStamp,
    LinkMessage,
    NameCharUpdate,
    RaceUpdate,
    ZoneUpdate,
)
from emu.login.ports import CharacterStore, LogStore, RegisteredWorlds
from emu.mailbox import Mailbox, Spawn, Task
from emu.model import Equipment
from emu.times import Moment
from emu.worlds import ZoneDescription

EQUIPMENT_SLOTS = 25
"""Slots that an entry of the character list can show; worlds send 0 to 8 and 19."""

_BASIC: Mapping[int, tuple[str, int]] = {
    LEVEL: ("level", 255),
    CLASS: ("class_", 255),
    GENDER: ("gender", 255),
}
"""Field number of BasicCharUpdate -> column and the greatest value.

Race is missing because it has its own message. Delete is missing because EQ2Emulator's worlds also
send it in answer to a time stamp of a character that exists; a login server that obeyed would lose
characters.
"""


@dataclass(frozen=True, slots=True)
class UpdateStores:
    """The stores that reports are written to."""

    characters: CharacterStore
    worlds: RegisteredWorlds
    logs: LogStore


class UpdateQueues:
    """One queue of writes for each world, in order; `failed` receives the errors."""

    def __init__(
        self, spawn: Spawn, most_waiting: int, failed: Callable[[int, EmuError], None]
    ) -> None:
        self._spawn = spawn
        self._most_waiting = most_waiting
        self._failed = failed
        self._mailboxes: dict[int, Mailbox] = {}

    def put(self, world_id: int, task: Task) -> bool:
        """Queue a write of a world; return False when too many wait already."""
        mailbox = self._mailboxes.get(world_id)
        if mailbox is None:
            mailbox = self._mailboxes[world_id] = Mailbox(self._spawn, self._most_waiting)
        return mailbox.put(partial(self._carry_out, world_id, task))

    async def _carry_out(self, world_id: int, task: Task) -> None:
        try:
            await task()
        except EmuError as error:
            self._failed(world_id, error)


def task_for(
    message: LinkMessage, world_id: int, stores: UpdateStores, moment: Moment
) -> Task | None:
    """Return the write for a world's report; None when the report has no meaning here."""
    if isinstance(message, ZoneUpdates):
        zones = [ZoneDescription(row.zone_id, row.name, row.description) for row in message.zones]
        return partial(stores.worlds.set_zones, world_id, zones) if zones else None
    if isinstance(message, LoginEquipment):
        items = [
            (row.char_id, Equipment(row.slot, row.model, row.color, row.highlight))
            for row in message.items
            # A world may send any slot; a row that no list can show would only fill the disk.
            if row.slot < EQUIPMENT_SLOTS
        ]
        return partial(stores.characters.set_equipment, world_id, items) if items else None
    if isinstance(message, BugReport):
        texts = {item.name: getattr(message, item.name) for item in fields(message)}
        account_id = texts.pop("account_id")
        return partial(stores.logs.add_bug_report, world_id, account_id, texts, moment)
    if not isinstance(
        message, BasicCharUpdate | RaceUpdate | ZoneUpdate | NameCharUpdate | CharTimeStamp
    ):
        # Other messages are valid on the link but change nothing in the stores.
        return None
    changes = _changes(message)
    ids = (message.account_id, world_id, message.char_id)
    return partial(stores.characters.update_character, *ids, changes) if changes else None


def _changes(
    message: BasicCharUpdate | RaceUpdate | ZoneUpdate | NameCharUpdate | CharTimeStamp,
) -> dict[str, int | str | float]:
    """Return the changed columns by name; empty when the message changes nothing."""
    if isinstance(message, BasicCharUpdate):
        # -1 is below every value, so an unknown field number changes nothing.
        column, most = _BASIC.get(message.field, ("", -1))
        # The column is a byte; a larger number is a fault of the world, not a new level.
        return {column: message.data} if message.data <= most else {}
    if isinstance(message, RaceUpdate):
        model = (
            {"race_type": message.model} if message.model else {}
        )  # 0: the world does not know the model.
        return {"race": message.race, **model}
    if isinstance(message, ZoneUpdate):
        return {"zone_id": message.zone_id, "zone_name": message.zone_name}
    if isinstance(message, NameCharUpdate):
        name = message.name.strip()
        # The name is shown to players, so one with control characters is refused.
        return {"name": name} if name and name.isprintable() else {}
    return {"last_played": float(message.unix_timestamp)}
