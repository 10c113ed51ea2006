"""Characters for operators: rows of the list and of the built-in world together."""

from dataclasses import replace

import pytest

from emu.errors import DuplicateName
from emu.model import BUILT_IN_ACCOUNT, RosterEntry
from emu.store import Store
from emu.worlds import RegisteredWorld
from tests.support.database.stores import character, world_character


@pytest.fixture
def built_in(store: Store) -> Store:
    """A store whose world 2 is the built-in one, with a character of each world."""
    store.login.worlds.add(RegisteredWorld(0, "Here", BUILT_IN_ACCOUNT, ""))
    own = store.world.characters.create(world_character(name="Borvik"))
    store.login.characters.add(character(name="Aldana", char_id=1))
    store.login.characters.add(character(name="Borvik", world_id=2, char_id=own.id))
    return store


def the(store: Store, name: str) -> RosterEntry:
    (found,) = (entry for entry in store.roster.every() if entry.name == name)
    return found


def test_a_character_is_listed_once_in_either_table(built_in: Store) -> None:
    built_in.world.characters.create(world_character(name="Cestra", account_id=77))
    entries = built_in.roster.every()
    assert [(entry.name, entry.world, entry.account) for entry in entries] == [
        ("Aldana", "Norrath", "Alice"), ("Borvik", "Here", "Alice"), ("Cestra", "", ""),
    ]  # fmt: skip
    assert [(entry.id, entry.own_id, entry.is_built_in) for entry in entries] == [
        (1, None, False), (2, 1, True), (None, 2, True),
    ]  # fmt: skip
    assert (entries[0].class_, entries[0].level, entries[0].last_played) == (3, 12, 2000.25)


def test_another_world_s_character_of_the_same_number_is_not_the_built_in_s(store: Store) -> None:
    own = store.world.characters.create(world_character(name="Borvik"))
    store.login.characters.add(character(name="Aldana", char_id=own.id))
    assert the(store, "Aldana").own_id is None
    assert the(store, "Borvik").id is None


def test_a_new_name_is_in_both_places(built_in: Store) -> None:
    built_in.roster.rename(the(built_in, "Borvik"), "Dorn")
    assert the(built_in, "Dorn").own_id == 1
    found = built_in.world.characters.find(1)
    assert found is not None
    assert found.name == "Dorn"
    built_in.world.characters.create(world_character(name="Borvik"))
    with pytest.raises(DuplicateName, match="'BORVIK'"):
        built_in.roster.rename(the(built_in, "Dorn"), "BORVIK")
    built_in.roster.rename(the(built_in, "Dorn"), "DORN")
    assert the(built_in, "DORN").id == 2


def test_what_is_deleted_in_both_places_comes_back_in_both(built_in: Store) -> None:
    built_in.roster.delete(the(built_in, "Borvik"))
    assert the(built_in, "Borvik").deleted_at is not None
    assert built_in.world.characters.find(1) is None
    assert [row.name for row in built_in.login.characters.of_account(1)] == ["Aldana"]
    built_in.roster.restore(the(built_in, "Borvik"))
    assert the(built_in, "Borvik").deleted_at is None
    assert built_in.world.characters.find(1) is not None
    assert [row.name for row in built_in.login.characters.of_account(1)] == ["Aldana", "Borvik"]


def test_a_number_that_was_given_anew_keeps_the_older_one_away(built_in: Store) -> None:
    built_in.login.characters.add(character(name="Erlin", char_id=1))
    with pytest.raises(DuplicateName, match="number 1 of its world is now 'Erlin'"):
        built_in.roster.restore(the(built_in, "Aldana"))
    assert the(built_in, "Aldana").deleted


def test_a_forgotten_character_leaves_its_name_to_others(built_in: Store) -> None:
    built_in.roster.delete(the(built_in, "Borvik"))
    with pytest.raises(DuplicateName):
        built_in.world.characters.create(world_character(name="borvik"))
    built_in.roster.forget(the(built_in, "Borvik"))
    assert [entry.name for entry in built_in.roster.every()] == ["Aldana"]
    built_in.world.characters.create(world_character(name="borvik"))


def test_a_row_of_the_list_has_its_appearance(built_in: Store) -> None:
    wanted = character(name="Aldana", char_id=1)
    assert built_in.login.characters.get(1) == replace(wanted, id=1)
    assert built_in.login.characters.get(99) is None
