from dataclasses import replace

import pytest

from emu.errors import DuplicateName
from emu.store import Store, world_characters
from emu.world.ports import WorldCharacter
from tests.support.stores import world_character


def test_a_character_comes_back_as_it_was(empty_store: Store) -> None:
    added = empty_store.create_world_character(world_character())
    assert added == world_character(id=1)
    assert empty_store.find_world_character(1) == added
    assert empty_store.world_characters_of(1) == [added]
    assert empty_store.world_characters_of(2) == []


def test_a_name_stays_taken_when_its_character_is_deleted(empty_store: Store) -> None:
    empty_store.create_world_character(world_character())
    assert empty_store.delete_world_character(1, 1)
    with pytest.raises(DuplicateName, match="already a character 'AYLA'"):
        empty_store.create_world_character(world_character(name="AYLA"))
    assert empty_store.find_world_character(1) is None
    assert empty_store.world_characters_of(1) == []


def test_only_the_owner_deletes_and_only_once(empty_store: Store) -> None:
    empty_store.create_world_character(world_character())
    assert not empty_store.delete_world_character(2, 1)
    assert empty_store.delete_world_character(1, 1)
    assert not empty_store.delete_world_character(1, 1)


def test_when_it_was_played_is_remembered(empty_store: Store) -> None:
    added = empty_store.create_world_character(world_character(admin_status=100))
    empty_store.world_character_played(1, 5000.0)
    assert empty_store.find_world_character(1) == replace(added, last_played=5000.0)


def test_every_field_has_a_column() -> None:
    looks = {"id", "appearance", "colors"}
    assert set(world_characters.FIELDS) == set(WorldCharacter.__dataclass_fields__) - looks
