from dataclasses import replace

import pytest

from emu.errors import DuplicateName
from emu.model import WorldCharacter
from emu.store import Store
from emu.store.world import characters
from emu.times import Moment
from tests.support.database.stores import world_character


def test_a_character_comes_back_as_it_was(empty_store: Store) -> None:
    added = empty_store.world.characters.create(world_character())
    assert added == world_character(id=1)
    assert empty_store.world.characters.find(1) == added
    assert empty_store.world.characters.of_account(1) == [added]
    assert empty_store.world.characters.of_account(2) == []


def test_a_name_stays_taken_when_its_character_is_deleted(empty_store: Store) -> None:
    empty_store.world.characters.create(world_character())
    assert empty_store.world.characters.delete(1, 1)
    with pytest.raises(DuplicateName, match="already a character 'AYLA'"):
        empty_store.world.characters.create(world_character(name="AYLA"))
    assert empty_store.world.characters.find(1) is None
    assert empty_store.world.characters.of_account(1) == []


def test_a_deleted_name_is_free_after_a_time(empty_store: Store) -> None:
    empty_store.world.characters.keep_deleted = 100.0
    empty_store.world.characters.create(world_character())
    empty_store.world.characters.create(world_character(name="Bel"))
    empty_store.world.characters.delete(1, 1)
    (deleted_at,) = empty_store.database.connection.execute(
        "SELECT deleted_at FROM world_characters WHERE id = 1"
    ).fetchone()
    late = world_character(name="AYLA", created=deleted_at + 100.0)
    with pytest.raises(DuplicateName):
        empty_store.world.characters.create(late)
    again = empty_store.world.characters.create(replace(late, created=deleted_at + 100.5))
    assert again.id == 3, "an id is never used again"
    rows = empty_store.database.connection.execute("SELECT name FROM world_characters ORDER BY id")
    assert [name for (name,) in rows] == ["Bel", "AYLA"]
    looks = empty_store.database.connection.execute(
        "SELECT count(*) FROM world_character_appearance WHERE character_id = 1"
    )
    assert looks.fetchone()[0] == 0


def test_a_character_that_is_brought_back_is_not_removed_later(empty_store: Store) -> None:
    empty_store.world.characters.keep_deleted = 100.0
    empty_store.world.characters.create(world_character())
    empty_store.world.characters.delete(1, 1)
    with empty_store.transaction() as connection:
        connection.execute("UPDATE world_characters SET deleted = 0")
    empty_store.world.characters.create(world_character(name="Bel", created=1e12))
    assert empty_store.world.characters.find(1) is not None


def test_only_the_owner_deletes_and_only_once(empty_store: Store) -> None:
    empty_store.world.characters.create(world_character())
    assert not empty_store.world.characters.delete(2, 1)
    assert empty_store.world.characters.delete(1, 1)
    assert not empty_store.world.characters.delete(1, 1)


def test_when_it_was_played_is_remembered(empty_store: Store) -> None:
    added = empty_store.world.characters.create(world_character(admin_status=100))
    empty_store.world.characters.played(1, 5000.0)
    assert empty_store.world.characters.find(1) == replace(added, last_played=5000.0)


def test_every_field_has_a_column() -> None:
    elsewhere = {
        "id",
        "appearance",
        "colors",
        "place",
        "relations",
        "titles",
        "hotkeys",
        "channels",
    }
    assert set(characters.FIELDS) == set(WorldCharacter.__dataclass_fields__) - elsewhere


def test_a_place_is_kept(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    assert made.place is None
    empty_store.world.characters.save_place(made.id, 166, (1.5, -2.25, 3.75, 90.0, 0xFFFFFFFF))
    found = empty_store.world.characters.find(made.id)
    assert found is not None
    assert (found.zone_id, found.place) == (166, (1.5, -2.25, 3.75, 90.0, 0xFFFFFFFF))


def test_mute_and_rank_are_kept(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    empty_store.world.characters.save_mute(made.id, Moment(1234.5))
    empty_store.world.characters.set_admin_status(made.id, 100)
    found = empty_store.world.characters.find_named(made.name.upper())
    assert found is not None
    assert (found.muted_until, found.admin_status) == (1234.5, 100)
    assert empty_store.world.characters.find_named("nobody") is None


def test_the_statuses_of_an_account_leave_out_who_is_deleted(empty_store: Store) -> None:
    characters = empty_store.world.characters
    first, second = (
        characters.create(replace(world_character(), name=name)) for name in ("Ayla", "Borvik")
    )
    characters.set_admin_status(first.id, 200)
    characters.set_admin_status(second.id, 10)
    assert characters.statuses_of(1) == [200, 10]
    characters.delete(1, first.id)
    assert characters.statuses_of(1) == [10]
    assert characters.statuses_of(2) == []
