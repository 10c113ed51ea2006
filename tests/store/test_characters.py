from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import StoreError
from emu.model import Character, Color, Equipment
from emu.store import Store, characters
from emu.store.appearance import Appearance
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character, world_character
from tests.support.examples import tries


def test_a_character_comes_back_as_it_was(store: Store) -> None:
    added = store.login.characters.add(character())
    assert added.id == 1
    assert store.login.characters.of_account(1) == [added]
    assert (
        store.login.characters.count_of_account(1) == store.login.characters.count_of_world(1) == 1
    )


def test_an_older_row_of_the_same_character_is_marked_deleted(store: Store) -> None:
    store.login.characters.add(character())
    newer = store.login.characters.add(character(name="Bryn"))
    assert store.login.characters.of_account(1) == [newer]
    rows = store.database.connection.execute(
        "SELECT name, deleted FROM characters ORDER BY id"
    ).fetchall()
    assert [tuple(row) for row in rows] == [("Ayla", 1), ("Bryn", 0)]


def test_characters_of_two_worlds_are_kept_apart(store: Store) -> None:
    store.login.worlds.add(RegisteredWorld(0, "Other", "other", ""))
    first = store.login.characters.add(character())
    second = store.login.characters.add(character(world_id=2))
    assert store.login.characters.of_account(1) == [first, second]


@pytest.mark.parametrize(
    "wrong",
    [{"account_id": 2}, {"world_id": 2}, {"char_id": 8}, {"name": "ayla"}],
)
def test_only_the_very_character_is_deleted(store: Store, wrong: dict[str, object]) -> None:
    store.login.characters.add(character())
    right: dict[str, object] = {"account_id": 1, "world_id": 1, "char_id": 7, "name": "Ayla"}
    assert not store.login.characters.delete(**(right | wrong))  # type: ignore[arg-type]
    assert store.login.characters.delete(1, 1, 7, "Ayla")
    assert not store.login.characters.delete(1, 1, 7, "Ayla")
    assert store.login.characters.of_account(1) == []


def test_columns_and_appearance_are_changed(store: Store) -> None:
    added = store.login.characters.add(character())
    changes = {"level": 13, "class_": 4, "zone_name": "qey_north", "race_type": 112, "name": "Ay"}
    assert store.login.characters.update(1, 1, 7, changes)
    assert store.login.characters.of_account(1) == [
        replace(
            added,
            level=13,
            class_=4,
            zone_name="qey_north",
            name="Ay",
            appearance={"race_type": 112, "body_size": -20},
        )
    ]
    assert not store.login.characters.update(1, 1, 8, {"level": 1})


def test_a_change_is_whole_or_nothing(store: Store) -> None:
    added = store.login.characters.add(character())
    with pytest.raises(StoreError):
        store.login.characters.update(1, 1, 7, {"race_type": 99, "level": "no number"})
    assert store.login.characters.of_account(1) == [added]


def test_a_character_without_account_or_world_is_refused_whole(store: Store) -> None:
    with pytest.raises(StoreError, match=r"(?i)foreign key"):
        store.login.characters.add(character(account_id=5))
    assert store.database.connection.execute("SELECT count(*) FROM characters").fetchone()[0] == 0


def test_equipment_of_known_characters_is_stored(store: Store) -> None:
    store.login.characters.add(character())
    changed = Equipment(3, 901)
    cloak = Equipment(19, 5, (0, 128, 255), (255, 0, 1))
    store.login.characters.set_equipment(1, [(7, changed), (99, cloak), (7, cloak)])
    (stored,) = store.login.characters.of_account(1)
    assert stored.equipment == (changed, cloak)


def test_entries_that_are_missing_are_added_and_others_stay(store: Store) -> None:
    added = store.login.characters.add(character())
    other = Color(5, 5, 5)
    entries = Appearance({"race_type": 9}, {"hair_color1": other}, (Equipment(3, 1),))
    assert not store.login.characters.add_missing(added.id, entries)
    assert store.login.characters.of_account(1) == [added]
    entries = Appearance({"wing_type": 9}, {"eye_type": other}, (Equipment(2, 1),))
    assert store.login.characters.add_missing(added.id, entries)
    (stored,) = store.login.characters.of_account(1)
    assert stored.appearance == {**added.appearance, "wing_type": 9}
    assert stored.colors == {**added.colors, "eye_type": other}
    assert stored.equipment == (Equipment(2, 1), *added.equipment)
    with pytest.raises(ValueError, match="no character with number 99"):
        store.login.characters.add_missing(99, entries)


def test_a_list_is_one_statement(sqlite_store: Store) -> None:
    store = sqlite_store
    for number in (7, 8, 9):
        store.login.characters.add(character(char_id=number))
    statements: list[str] = []
    store.sqlite.connection.set_trace_callback(statements.append)
    assert len(store.login.characters.of_account(1)) == 3
    assert len(statements) == 1


def test_every_field_has_a_column() -> None:
    looks = {"id", "appearance", "colors", "equipment"}
    assert set(characters.FIELDS) == set(Character.__dataclass_fields__) - looks
    assert set(characters.FIELDS) > characters.CHANGEABLE


NUMBERS = st.integers(0, 0xFFFFFFFF)
NAMES = st.text(st.characters(codec="utf-8"), max_size=12)
PARTS = st.integers(-128, 255)
TINTS = st.tuples(PARTS, PARTS, PARTS)
CHARACTERS = st.builds(
    character,
    char_id=NUMBERS,
    name=NAMES,
    level=NUMBERS,
    zone_name=NAMES,
    created=st.floats(0, 1e11),
    appearance=st.dictionaries(NAMES, st.integers(-(1 << 31), (1 << 31) - 1), max_size=5),
    colors=st.dictionaries(NAMES, st.builds(Color, PARTS, PARTS, PARTS, st.booleans()), max_size=5),
    equipment=st.lists(
        st.builds(Equipment, st.integers(0, 30), st.integers(0, 0xFFFF), TINTS, TINTS),
        max_size=5,
        unique_by=lambda item: item.slot,
    ).map(lambda items: tuple(sorted(items, key=lambda item: item.slot))),
)


@pytest.mark.slow
@tries(15)
@given(st.lists(CHARACTERS, max_size=8, unique_by=lambda item: item.char_id))
def test_any_characters_come_back_as_they_were(rows: list[Character]) -> None:
    with TemporaryDirectory() as folder, Store.create(Path(folder) / "emu.sqlite") as store:
        store.login.accounts.add("Alice", "hash", 1.0)
        store.login.worlds.add(RegisteredWorld(0, "Norrath", "norrath", ""))
        added = [store.login.characters.add(row) for row in rows]
        assert [replace(row, id=0) for row in added] == rows
        assert store.login.characters.of_account(1) == added


def test_rows_deleted_long_ago_are_removed_unless_the_world_has_the_character(
    store: Store,
) -> None:
    store.login.characters.keep_deleted = 100.0
    for char_id in (7, 8):
        store.login.characters.add(character(char_id=char_id))
    own = store.world.characters.create(world_character())
    store.login.characters.add(character(char_id=own.id))
    for row in store.login.characters.of_account(1):
        store.login.characters.delete(1, 1, row.char_id, row.name)
    (moment,) = store.database.connection.execute(
        "SELECT max(deleted_at) FROM characters"
    ).fetchone()
    store.login.characters.add(character(char_id=20, created=moment + 100.0))
    assert store.database.connection.execute("SELECT count(*) FROM characters").fetchone()[0] == 4
    store.login.characters.add(character(char_id=21, created=moment + 101.0))
    left = store.database.connection.execute("SELECT char_id FROM characters ORDER BY id")
    assert [char_id for (char_id,) in left] == [own.id, 20, 21]


def test_a_row_is_removed_when_another_account_has_its_number_in_the_world(
    store: Store,
) -> None:
    store.login.characters.keep_deleted = 100.0
    own = store.world.characters.create(world_character(account_id=44))
    store.login.characters.add(character(char_id=own.id))
    assert store.login.characters.delete(1, 1, own.id, "Ayla")
    store.login.characters.add(character(char_id=20, created=1e12))
    assert (
        store.database.connection.execute("SELECT char_id FROM characters").fetchall()[0][0] == 20
    )


def test_an_id_that_a_world_assigns_again_ends_the_older_row(store: Store) -> None:
    store.login.accounts.add("Bob", "hash", 1.0)
    store.login.characters.add(character(account_id=2))
    store.login.characters.add(character(account_id=1, name="Bel"))
    assert store.login.characters.of_account(2) == []
    store.login.characters.add(character(account_id=2, name="Old", deleted=True))
    assert [row.name for row in store.login.characters.of_account(1)] == ["Bel"]


def test_a_list_follows_the_changes_of_other_programs(store: Store) -> None:
    store.login.characters.add(character(level=1))
    with Store.open(store.where) as other:
        for level in (2, 3, 2):
            other.login.characters.update(1, 1, 7, {"level": level, "race_type": level})
            (found,) = store.login.characters.of_account(1)
            assert (found.level, found.appearance["race_type"]) == (level, level)
