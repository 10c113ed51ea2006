from __future__ import annotations

import pytest

from emu.link.batches import EquipmentItem, LoginEquipment, ZoneItem, ZoneUpdates
from emu.link.messages import (
    BasicCharUpdate,
    BugReport,
    CharacterPicture,
    CharTimeStamp,
    NameCharUpdate,
    OpaqueMessage,
    RaceUpdate,
    ZoneUpdate,
)
from emu.login.world_updates import UpdateStores, task_for
from emu.model import Equipment
from emu.worlds import ZoneDescription
from tests.support.login.directory_fakes import Loop, Stores


class Bench:
    def __init__(self) -> None:
        self.store = Stores()

    def say(self, message) -> list[tuple]:
        stores = UpdateStores(self.store, self.store, self.store)
        task = task_for(message, 7, stores, 50.0)
        if task is None:
            return []

        async def run() -> None:
            await task()

        Loop().spawn(run())
        return self.store.calls


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (BasicCharUpdate(101, 5, 1, 60), {"level": 60}),
        (BasicCharUpdate(101, 5, 4, 12), {"class_": 12}),
        (BasicCharUpdate(101, 5, 8, 1), {"gender": 1}),
        (RaceUpdate(101, 5, 134, 9), {"race": 9, "race_type": 134}),
        (RaceUpdate(101, 5, 0, 9), {"race": 9}),
        (ZoneUpdate(101, 5, 166, "fprt"), {"zone_id": 166, "zone_name": "fprt"}),
        (NameCharUpdate(101, 5, "Borvik"), {"name": "Borvik"}),
        (NameCharUpdate.decode(NameCharUpdate(101, 5, " Ælfrīc ").encode()), {"name": "Ælfrīc"}),
        (CharTimeStamp(5, 101, 1_700_000_000), {"last_played": 1.7e9}),
    ],
)
def test_a_change_of_a_character_is_stored(message, changes: dict) -> None:
    assert Bench().say(message) == [("character", 101, 7, 5, changes)]


@pytest.mark.parametrize(
    "message",
    [
        BasicCharUpdate(101, 5, 128, 1),
        BasicCharUpdate(101, 5, 2, 9),
        BasicCharUpdate(101, 5, 1, 256),
        NameCharUpdate(101, 5, "a\x07b"),
        NameCharUpdate(101, 5, "   "),
        ZoneUpdates(()),
        LoginEquipment(()),
        CharacterPicture(101, 5, b"x"),
        OpaqueMessage(0x1006),
    ],
)
def test_what_changes_nothing_asks_nothing_of_the_store(message) -> None:
    assert Bench().say(message) == []


def test_zones_are_stored_as_one_batch() -> None:
    zones = ZoneUpdates((ZoneItem(12, "antonica", "Antonica"), ZoneItem(13, "cl", "")))
    assert Bench().say(zones) == [
        ("zones", 7, ZoneDescription(12, "antonica", "Antonica"), ZoneDescription(13, "cl", ""))
    ]


def test_equipment_is_stored_as_one_batch_without_slots_that_no_list_shows() -> None:
    good = EquipmentItem(1, 5, 300, (1, 2, 3), (4, 5, 6), 24)
    past = EquipmentItem(1, 5, 300, (1, 2, 3), (4, 5, 6), 25)
    stored = (5, Equipment(24, 300, (1, 2, 3), (4, 5, 6)))
    assert Bench().say(LoginEquipment((good, past))) == [("equipment", 7, stored)]


def test_a_bug_report_is_stored_with_its_fields() -> None:
    report = BugReport("a", "b", "c", "d", "e", "f", "g", "h", 101, "i", 8, 9)
    ((kind, world_id, account_id, fields, received),) = Bench().say(report)
    assert (kind, world_id, account_id, received) == ("bug", 7, 101, 50.0)
    assert fields["description"] == "f"
    assert fields["spawn_id"] == 8
    assert "account_id" not in fields
    assert len(fields) == 11
