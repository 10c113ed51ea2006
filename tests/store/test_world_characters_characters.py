import math
from dataclasses import replace
from typing import Any

import pytest

from emu.errors import DuplicateName, OutOfDate, StoreError
from emu.model import (
    CharacterStanding,
    Hotkey,
    KnownSkill,
    Membership,
    Title,
    WorldCharacter,
)
from emu.shards import Shard
from emu.store import Store
from emu.store import world_characters as characters
from emu.times import Moment
from tests.support.database.stores import saved_state, world_character


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


def test_a_character_that_is_brought_back_is_not_removed_later(empty_store: Store) -> None:
    empty_store.world.characters.keep_deleted = 100.0
    empty_store.world.characters.create(world_character())
    empty_store.world.characters.delete(1, 1)
    with empty_store.transaction() as connection:
        connection.execute("UPDATE world_characters SET deleted = FALSE")
    empty_store.world.characters.create(world_character(name="Bel", created=1e12))
    assert empty_store.world.characters.find(1) is not None


def test_only_the_owner_deletes_and_only_once(empty_store: Store) -> None:
    empty_store.world.characters.create(world_character())
    assert not empty_store.world.characters.delete(2, 1)
    assert empty_store.world.characters.delete(1, 1)
    assert not empty_store.world.characters.delete(1, 1)


def test_when_it_was_played_is_remembered(empty_store: Store) -> None:
    added = empty_store.world.characters.create(world_character(admin_status=100))
    state = saved_state(added, last_played=5000.0)
    empty_store.world.characters.save_character(1, state)
    assert empty_store.world.characters.find(1) == replace(
        added, last_played=5000.0, revision=1, zone_id=state.zone_id, place=state.place
    )


def test_a_save_stores_all_it_names_and_nothing_else(empty_store: Store) -> None:
    characters = empty_store.world.characters
    made = characters.create(world_character())
    kinds: dict[str, Any] = {
        "relations": ((0, "Borvik"),), "titles": (Title("Sir", is_prefix=True),), "prefix": "Sir",
        "suffix": "", "hotkeys": (Hotkey(1, 2, 4, text="hail"),),
        "channels": (Membership("Crafts", "secret"),), "last_played": 8.0,
        "shards": (
            Shard(2, 325, 1.5, -2.25, 3.0, 90.0, 7, 500, Moment(1e9)),
            Shard(1, 12, 0.0, 0.0, 0.0, 0.0, 0, 50, Moment(1e9 + 0.5)),
        ),
    }  # fmt: skip
    characters.save_character(made.id, saved_state(made, 3, **kinds))
    characters.save_character(made.id, saved_state(made, 4, zone_id=12))
    found = characters.find(made.id)
    assert found == replace(
        made, **kinds, revision=4, zone_id=12, place=saved_state(made).place
    )  # fmt: skip


def test_a_save_that_fails_half_way_stores_nothing(empty_store: Store) -> None:
    characters = empty_store.world.characters
    made = characters.create(world_character())
    wrong: Any = [Membership("Crafts", None)]  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        characters.save_character(
            made.id, saved_state(made, relations=((0, "Borvik"),), channels=wrong)
        )
    assert characters.find(made.id) == made


@pytest.mark.parametrize(("number", "is_stored"), [(6, False), (7, False), (8, True)])
def test_an_older_save_changes_nothing(empty_store: Store, number: int, *, is_stored: bool) -> None:
    characters = empty_store.world.characters
    made = characters.create(world_character())
    characters.save_character(made.id, saved_state(made, 7, zone_id=12))
    late = saved_state(made, number, zone_id=33, relations=((0, "Borvik"),))
    if is_stored:
        characters.save_character(made.id, late)
    else:
        with pytest.raises(OutOfDate):
            characters.save_character(made.id, late)
    found = characters.find(made.id)
    assert found is not None
    assert (found.zone_id, bool(found.relations)) == ((33, True) if is_stored else (12, False))


def test_a_save_of_a_character_that_is_gone_is_left_out(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    with empty_store.transaction() as connection:
        connection.execute("DELETE FROM world_characters")
    empty_store.world.characters.save_character(
        made.id, saved_state(made, hotkeys=(Hotkey(1, 2, 4),))
    )
    assert empty_store.world.belongings.of(made.id)["hotkeys"] == ()


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
        "shards",
        "skills",
        "languages",
    }
    assert (
        set(characters.columns_of(WorldCharacter))
        == set(WorldCharacter.__dataclass_fields__) - elsewhere
    )


def test_a_place_is_kept(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    assert made.place is None
    empty_store.world.characters.save_place(made.id, 166, (1.5, -2.25, 3.75, 90.0, 0xFFFFFFFF))
    found = empty_store.world.characters.find(made.id)
    assert found is not None
    assert (found.zone_id, found.place) == (166, (1.5, -2.25, 3.75, 90.0, 0xFFFFFFFF))


def test_mute_and_rank_are_kept(empty_store: Store) -> None:
    made = empty_store.world.characters.create(world_character())
    empty_store.world.characters.mute_account(made.account_id, Moment(1234.5))
    empty_store.world.characters.set_admin_status(made.id, 100)
    found = empty_store.world.characters.find_named(made.name.upper())
    assert found is not None
    assert (found.muted_until, found.admin_status) == (1234.5, 100)
    assert empty_store.world.characters.find_named("nobody") is None


def test_the_statuses_of_an_account_leave_out_deleted_characters(empty_store: Store) -> None:
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


def test_a_mute_is_of_the_account_of_deleted_and_of_new_characters(empty_store: Store) -> None:
    characters_of = empty_store.world.characters
    first = characters_of.create(world_character(name="First"))
    other = characters_of.create(world_character(name="Other", account_id=2))
    assert characters_of.delete(1, first.id)
    characters_of.mute_account(1, Moment(500.0))
    second = characters_of.create(world_character(name="Second"))
    assert second.muted_until == 500.0
    assert characters_of.find(second.id) == second
    assert characters_of.find(other.id) == other
    characters_of.mute_account(1, Moment(-math.inf))
    assert characters_of.create(world_character(name="Third")).muted_until == 0.0


def test_standings_are_of_those_that_are_not_deleted(empty_store: Store) -> None:
    stored = empty_store.world.characters
    made = [stored.create(world_character(name=name)) for name in ("First", "Second", "Third")]
    stored.delete(1, made[1].id)
    stored.set_admin_status(made[2].id, 100)
    stored.mute_account(1, Moment(7.0))
    assert stored.standings([made[0].id, made[1].id, made[2].id, 4711]) == [
        CharacterStanding(made[0].id, "First", 0, Moment(7.0)),
        CharacterStanding(made[2].id, "Third", 100, Moment(7.0)),
    ]
    assert stored.standings([]) == []


def test_time_played_options_and_last_name_are_saved(store: Store) -> None:
    characters = store.world.characters
    one, other = (characters.create(world_character(name=name)) for name in ("Al", "Bo"))
    timed = saved_state(one, options="lfg", last_name="Oak", played=90)
    # A spool of an earlier version has no time.
    saves = [(one.id, timed), (other.id, saved_state(other))]
    assert [*characters.save_characters(saves)] == [None, None]
    found, untimed = characters.find(one.id), characters.find(other.id)
    assert found is not None
    assert untimed is not None
    assert (found.options, found.last_name, found.played) == ("lfg", "Oak", 90)
    assert (untimed.options, untimed.last_name, untimed.played) == ("", "", 0)


def test_the_past_skills_and_languages_are_saved(store: Store) -> None:
    characters = store.world.characters
    one = characters.create(world_character(name="Al"))
    skills = (KnownSkill(3, 5, 9), KnownSkill(7, 1, 2))
    changed = saved_state(one, past='{"factions":{"20":5}}', skills=skills, languages=(2, 4))
    assert [*characters.save_characters([(one.id, changed)])] == [None]
    found = characters.find(one.id)
    assert found is not None
    assert (found.past, found.skills, found.languages) == (changed.facts["past"], skills, (2, 4))


def test_what_a_client_keeps_is_saved(store: Store) -> None:
    characters = store.world.characters
    one = characters.create(world_character(name="Al"))
    changed = saved_state(one, client_data='{"voices":[52,0]}')
    assert [*characters.save_characters([(one.id, changed)])] == [None]
    found = characters.find(one.id)
    assert found is not None
    assert found.client_data == changed.facts["client_data"]
    unchanged = saved_state(found, revision=found.revision + 1)
    assert [*characters.save_characters([(one.id, unchanged)])] == [None]
    kept = characters.find(one.id)
    assert kept is not None
    assert kept.client_data == changed.facts["client_data"]


def test_levels_and_classes_are_saved(store: Store) -> None:
    characters = store.world.characters
    one = characters.create(world_character(name="Al"))
    progress = {
        "class_": 4, "level": 12, "tradeskill_class": 2, "tradeskill_level": 9, "experience": 30,
        "experience_needed": 4600, "deity": 7,
    }  # fmt: skip
    assert [*characters.save_characters([(one.id, saved_state(one, **progress))])] == [None]
    found = characters.find(one.id)
    assert found is not None
    assert {name: getattr(found, name) for name in progress} == progress
