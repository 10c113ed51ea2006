"""Terms: a process whose character another one has let in since changes nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from emu.errors import OutOfDate
from emu.model import Hotkey, Membership, Title
from emu.store import Store
from tests.support.database.stores import saved_state, world_character

TABLES = (
    "world_characters", "world_relations", "world_titles", "world_hotkeys", "world_memberships",
    "world_skills", "world_languages",
)  # fmt: skip
EVERYTHING: dict[str, Any] = {
    "relations": ((0, "Borvik"),),
    "titles": (Title("Sir", is_prefix=True),),
    "prefix": "Sir",
    "suffix": "",
    "hotkeys": (Hotkey(1, 2, 4, text="hail"),),
    "channels": (Membership("Crafts", "secret"),),
    "last_played": 8.0,
}


def content(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables of the world's characters."""
    with store.reading() as connection:
        return {
            table: sorted(tuple(row) for row in connection.execute(f"SELECT * FROM {table}"))
            for table in TABLES
        }


def test_a_claim_raises_the_term_and_names_the_holder(empty_store: Store) -> None:
    characters = empty_store.world.characters
    made, other = (characters.create(world_character(name=name)) for name in ("Ayla", "Bel"))
    assert (made.holder, made.term) == ("", 0)
    for term, node in enumerate(("a", "b", "a"), 1):
        rows = characters.claim(1, made.id, node)
        assert [(row.id, row.holder, row.term) for row in rows] == [
            (made.id, node, term), (other.id, "", 0),
        ]  # fmt: skip
    assert characters.claim(2, made.id, "c") == []
    characters.delete(1, made.id)
    assert characters.claim(1, made.id, "c") == [other]


def test_a_process_that_was_stopped_changes_no_table(empty_store: Store) -> None:
    """Two processes with a connection each: one is stopped, the other one lets its player in."""
    characters = empty_store.world.characters
    made = characters.create(world_character())
    [mine] = characters.claim(1, made.id, "stopped")
    characters.save_character(made.id, saved_state(mine, 1, term=mine.term, **EVERYTHING))
    with Store.open(empty_store.where) as other:
        [theirs] = other.world.characters.claim(1, made.id, "other")
        assert theirs.relations == EVERYTHING["relations"]
        other.world.characters.save_character(made.id, saved_state(theirs, 2, term=theirs.term))
        before = content(other)
        # However far the stopped process has counted its saves.
        for revision in (2, 3, 1000):
            late = saved_state(
                mine, revision, term=mine.term, zone_id=12, relations=(), hotkeys=(), channels=(),
                titles=(), prefix="", suffix="", last_played=9.0,
            )  # fmt: skip
            with pytest.raises(OutOfDate, match="another process plays Ayla now"):
                characters.save_character(made.id, late)
        assert content(other) == before
        other.world.characters.save_character(made.id, saved_state(theirs, 3, term=theirs.term))
        assert content(other) != before


def test_several_saves_are_stored_or_refused_each_for_itself(empty_store: Store) -> None:
    characters = empty_store.world.characters
    names = ("Ayla", "Bel", "Cilla", "Dara")
    made = [characters.create(world_character(name=name)) for name in names]
    characters.claim(1, made[1].id, "other")
    characters.save_character(made[2].id, saved_state(made[2], 7))
    saves = [
        saved_state(row, 5, zone_id=33, relations=((0, row.name),), last_played=9.0) for row in made
    ]
    gone = saved_state(world_character(id=99), 5)
    found = characters.save_characters([(one.char_id, one) for one in (*saves, gone)])
    assert [str(error or "") for error in found] == [
        "", "another process plays Bel now", "a newer state of Cilla is stored", "", "",
    ]  # fmt: skip
    rows = characters.of_account(1)
    assert [(row.zone_id == 33, bool(row.relations), row.last_played) for row in rows] == [
        (True, True, 9.0), (False, False, 0.0), (False, False, 0.0), (True, True, 9.0),
    ]  # fmt: skip
    twice = [saved_state(made[0], number, zone_id=number) for number in (6, 7)]
    assert characters.save_characters([(one.char_id, one) for one in twice]) == [None, None]
    assert characters.of_account(1)[0].zone_id == 7
