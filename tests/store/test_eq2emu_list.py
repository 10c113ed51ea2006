"""The character list of an EQ2Emulator login database.

Sources: docs/protocol/characters.md, docs/protocol/link.md#batches.
"""

from dataclasses import replace

import pytest

from emu.model import Character, Color, Equipment
from emu.store import Store, eq2emu_list
from emu.worlds import ZoneDescription
from tests.support.files.eq2emu_dumps import HASH, counts, insert, take

ALICE = insert("account", id=7, name="Alice", passwd=HASH)
WORLD = insert("login_worldservers", id=3, name="Antonia", account="anto", password=HASH)
ZONES = insert("ls_world_zones", id=1, server_id=3, zone_id=12, name="Antonica", description="Far")
CHARACTER = {
    "id": 41, "account_id": 7, "server_id": 3, "name": "Aldana", "race": 9, "class": 25,
    "gender": 1, "deity": 2, "body_size": 0.5, "body_age": 0.25, "current_zone": "antonica",
    "current_zone_id": 12, "level": 20, "tradeskill_class": 4, "tradeskill_level": 6,
    "soga_wing_type": 0, "soga_chest_type": 31, "soga_legs_type": 32, "soga_hair_type": 33,
    "soga_facial_hair_type": 34, "legs_type": 21, "chest_type": 22, "wing_type": 23,
    "hair_type": 24, "facial_hair_type": 25, "deleted": 0, "unix_timestamp": 5,
    "created_date": "2001-09-09 01:46:40", "last_played": "0000-00-00 00:00:00", "char_id": 900,
    "soga_model_type": 30, "model_type": 134,
}  # fmt: skip
COLORS = insert(
    "login_char_colors", id=1, login_characters_id=41, signed_value=1, type="skin_color",
    red=-61, green=-106, blue=122,
) + insert(
    "login_char_colors", id=2, login_characters_id=41, signed_value=0, type="soga_skin_color",
    red=195, green=0, blue=255,
) + insert(
    "login_char_colors", id=3, login_characters_id=41, signed_value=1, type="body_size",
    red=49, green=0, blue=0,
)  # fmt: skip
WORN = insert(
    "login_equipment", id=1, login_characters_id=41, equip_type=500, red=1, green=2, blue=3,
    highlight_red=4, highlight_green=5, highlight_blue=6, slot=19,
)  # fmt: skip


def row(**changes: object) -> str:
    return insert("login_characters", **{**CHARACTER, **changes})


DUMP = COLORS + row() + WORN + ALICE + WORLD + ZONES
"""Owners come last, as in dumps, whose tables stand in the order of the alphabet or worse."""


def names(store: Store) -> list[tuple[int, str, int]]:
    rows = store.database.connection.execute(
        "SELECT char_id, name, deleted FROM characters ORDER BY id"
    )
    return [tuple(row) for row in rows]


def test_a_character_comes_with_all_it_has(empty_store: Store) -> None:
    report = take(empty_store, DUMP)
    assert report.notes == []
    assert counts(report) == {
        "account": (1, 1, 0, 0),
        "login_worldservers": (1, 1, 0, 0),
        "login_characters": (1, 1, 0, 0),
        "ls_world_zones": (1, 1, 0, 0),
        "login_char_colors": (3, 2, 1, 0),
        "login_equipment": (1, 1, 0, 0),
    }
    (found,) = empty_store.login.characters.of_account(7)
    # The number of its row is the database's business: on a server, the trial has used one.
    assert [replace(found, id=1)] == [
        Character(
            id=1, account_id=7, world_id=3, char_id=900, name="Aldana", race=9, class_=25,
            gender=1, deity=2, level=20, tradeskill_class=4, tradeskill_level=6, zone_id=12,
            zone_name="antonica", created=1e9, last_played=0.0,
            appearance={
                "race_type": 134, "hair_type": 24, "hair_face_type": 25, "wing_type": 23,
                "chest_type": 22, "legs_type": 21, "soga_race_type": 30, "soga_hair_type": 33,
                "soga_hair_face_type": 34, "soga_chest_type": 31, "soga_legs_type": 32,
                "body_size": 50,
            },
            colors={
                "skin_color": Color(-61, -106, 122, signed=True),
                "soga_skin_color": Color(195, 0, 255),
            },
            equipment=(Equipment(19, 500, (1, 2, 3), (4, 5, 6)),),
        )
    ]  # fmt: skip
    assert empty_store.login.worlds.zones_of(3) == [ZoneDescription(12, "Antonica", "Far")]


def test_a_second_time_changes_nothing(empty_store: Store) -> None:
    take(empty_store, DUMP)
    empty_store.login.characters.update(7, 3, 900, {"level": 21})
    (before,) = empty_store.login.characters.of_account(7)
    report = take(empty_store, DUMP)
    assert (report.added, report.left_out) == (0, 0)
    assert empty_store.login.characters.of_account(7) == [before]


def test_an_interrupted_import_is_finished_by_a_second_one(empty_store: Store) -> None:
    take(empty_store, row() + ALICE + WORLD)
    take(empty_store, DUMP)
    (found,) = empty_store.login.characters.of_account(7)
    assert len(found.colors) == 2
    assert len(found.equipment) == 1


def test_a_character_deleted_in_the_store_stays_deleted(empty_store: Store) -> None:
    take(empty_store, DUMP)
    assert empty_store.login.characters.delete(7, 3, 900, "Aldana")
    assert take(empty_store, DUMP).added == 0
    assert empty_store.login.characters.of_account(7) == []


def test_deleted_characters_come_as_deleted(empty_store: Store) -> None:
    dump = ALICE + WORLD + row(deleted=1) + row(id=42)
    for _ in range(2):
        take(empty_store, dump)
        assert names(empty_store) == [(900, "Aldana", 1), (900, "Aldana", 0)]


def test_of_two_with_one_number_the_later_is_listed(empty_store: Store) -> None:
    dump = ALICE + WORLD + row() + row(id=42, name="Borvik")
    for _ in range(2):
        assert take(empty_store, dump).left_out == 0
        assert names(empty_store) == [(900, "Aldana", 1), (900, "Borvik", 0)]


def test_a_number_of_another_stored_character_is_reported(empty_store: Store) -> None:
    take(empty_store, DUMP)
    report = take(empty_store, ALICE + WORLD + row(name="Borvik"))
    assert report.left_out == 1
    assert report.notes == [
        "line 3: row of login_characters left out: number 900 of its world is 'Aldana' in the store"
    ]
    assert names(empty_store) == [(900, "Aldana", 0)]


def test_owners_may_be_stored_under_other_numbers(store: Store) -> None:
    report = take(
        store,
        insert("account", id=30, name="ALICE", passwd=HASH)
        + insert("login_worldservers", id=31, name="x", account="norrath", password=HASH)
        + row(account_id=30, server_id=31),
    )
    assert report.left_out == 0
    assert [(row.account_id, row.world_id) for row in store.login.characters.of_account(1)] == [
        (1, 1)
    ]


def test_a_dump_of_characters_only_means_the_accounts_that_are_here(store: Store) -> None:
    assert take(store, row(account_id=1, server_id=1)).added == 1
    assert take(store, row(account_id=99, server_id=1)).left_out == 1
    assert take(store, row(account_id=1, server_id=99)).left_out == 1


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (row(account_id=8), "its account 8 was not imported"),
        (row(server_id=8), "its world 8 was not imported"),
        (row(char_id=0), "char_id is out of range: 0"),
        (row(name=""), "its name is empty"),
        (row(model_type=70000), "model_type is out of range"),
        (row(body_size="big"), "body_size is no number"),
        (COLORS.replace("41", "8"), "its character 8 was not imported"),
        (COLORS.replace("-61", "-129"), "red is out of range: -129"),
        (WORN.replace("41", "8"), "its character 8 was not imported"),
        (WORN.replace("19", "-1"), "slot is out of range: -1"),
        (ZONES.replace(", 3,", ", 8,"), "its world 8 was not imported"),
    ],
)
def test_rows_that_cannot_be_used_are_left_out_with_a_reason(
    empty_store: Store, statement: str, why: str
) -> None:
    report = take(empty_store, ALICE + WORLD + row(id=41) + statement)
    assert report.left_out >= 1
    assert any(why in note for note in report.notes), report.notes
    assert len(empty_store.login.characters.of_account(7)) == 1


def test_a_world_has_no_more_zones_than_it_may_describe(
    empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eq2emu_list, "MOST_ZONES", 2)
    zones = "".join(
        insert("ls_world_zones", id=n, server_id=3, zone_id=n, name="a", description="b")
        for n in (1, 2, 2, 3)
    )
    assert counts(take(empty_store, ALICE + WORLD + zones))["ls_world_zones"] == (4, 2, 0, 2)
