"""A made-up fact is saved, read, copied, checked and repaired by its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from emu.database.sqlite import SqliteDatabase
from emu.facts import (
    Integer,
    Listed,
    Printable,
    saved_facts,
)
from emu.model import SavedKind, WorldCharacter
from emu.store import Store
from emu.store import spool as spool_module
from emu.store.copying import content, copy_store
from emu.store.spool import read_spool, write_spool
from emu.store.world_characters import WorldCharacters
from emu.usable import usable_world_character
from emu.world.saving.saver import state_of, with_state
from tests.support.database.stores import world_character

HERE = (1.0, 2.0, 3.0, 90.0, 7)


@dataclass(frozen=True, slots=True)
class Bounty:
    """A row of the made-up list."""

    wanted: Annotated[str, Printable("wanted", 20, least=1)]
    reward: Annotated[int, Integer("reward", 0, 1000)] = 0


@dataclass(frozen=True, slots=True)
class Hunter(WorldCharacter):
    """A character with two more facts; the declarations are all that the program knows of them."""

    caught: Annotated[int, Integer("caught", 0, 100), SavedKind.PROGRESS] = 0
    bounties: Annotated[
        tuple[Bounty, ...],
        Listed("bounties", 2, "world_bounties", "place, wanted, reward"),
        SavedKind.PROGRESS,
    ] = ()


BOUNTIES = (Bounty("Zzz", 5), Bounty("Aaa", 7))


def hunter(**changes: Any) -> Hunter:
    row = world_character(place=HERE)
    names = [name for name in WorldCharacter.__dataclass_fields__ if name != "id"]
    values = {name: getattr(row, name) for name in names} | changes
    return Hunter(id=0, **values)


def migrate(store: Store) -> None:
    """What the migration of the made-up facts would do."""
    with store.transaction() as connection:
        connection.execute(
            "ALTER TABLE world_characters ADD COLUMN caught INTEGER NOT NULL DEFAULT 0"
        )
        connection.execute(
            "CREATE TABLE world_bounties (character_id INTEGER NOT NULL, place INTEGER NOT NULL,"
            " wanted TEXT NOT NULL, reward INTEGER NOT NULL, PRIMARY KEY (character_id, place))"
        )


@pytest.fixture
def migrated(empty_store: Store) -> Iterator[Store]:
    """A store with the tables of the made-up facts; tests share the database of a server."""
    migrate(empty_store)
    try:
        yield empty_store
    finally:
        with empty_store.transaction() as connection:
            connection.execute("DROP TABLE world_bounties")
            connection.execute("ALTER TABLE world_characters DROP COLUMN caught")


def read(store: Store, char_id: int) -> WorldCharacter:
    found = WorldCharacters(store.database, kind=Hunter).find(char_id)
    assert found is not None
    return found


def test_a_made_up_fact_is_saved_and_read(migrated: Store) -> None:
    characters = WorldCharacters(migrated.database, kind=Hunter)
    made = characters.create(hunter())
    changed = replace(made, caught=3, bounties=BOUNTIES)  # type: ignore[call-arg]
    unchanged = state_of(changed, (SavedKind.RELATIONS,), 1)
    characters.save_character(made.id, unchanged)
    assert read(migrated, made.id) == replace(made, revision=1)
    state = state_of(changed, (SavedKind.PROGRESS,), 2)
    characters.save_character(made.id, state)
    assert read(migrated, made.id) == replace(changed, revision=2)
    assert with_state(made, state) == changed


def test_a_made_up_fact_is_checked_and_repaired(migrated: Store) -> None:
    characters = WorldCharacters(migrated.database, kind=Hunter)
    made = characters.create(hunter())
    wrong = (Bounty("Aaa", 7), Bounty("", 1), Bounty("Bbb", -1), Bounty("Ccc"), Bounty("Ddd"))
    characters.save_character(
        made.id,
        state_of(replace(made, caught=-4, bounties=wrong), (SavedKind.PROGRESS,), 1),  # type: ignore[call-arg]
    )
    [found] = characters.unusable()
    assert [problem.field for problem in found.problems] == ["caught", *["bounties"] * 3]
    characters.repair(found.character)
    assert characters.unusable() == []
    zone = found.character.zone_id
    assert characters.unusable({zone}) == []
    [elsewhere] = characters.unusable({zone + 1})
    assert [(one.field, one.value) for one in elsewhere.problems] == [("zone", str(zone))]
    assert elsewhere.character.zone_id == elsewhere.character.starting_zone
    assert elsewhere.character.place is None
    whole = replace(made, revision=1, bounties=(Bounty("Aaa", 7), Bounty("Ccc")))  # type: ignore[call-arg]
    assert read(migrated, made.id) == whole


def test_a_made_up_fact_is_copied(tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.sqlite") as old, Store.create(tmp_path / "new.sqlite") as new:
        migrate(old)
        migrate(new)
        made = WorldCharacters(old.database, kind=Hunter).create(hunter())
        state = state_of(replace(made, caught=9, bounties=BOUNTIES), tuple(SavedKind), 1)  # type: ignore[call-arg]
        WorldCharacters(old.database, kind=Hunter).save_character(made.id, state)
        copy_store(old.database, new.database, resume=False)
        assert read(new, made.id) == read(old, made.id)
        assert isinstance(new.database, SqliteDatabase)
        [table] = [one for one in old.database.tables_of() if one.name == "world_bounties"]
        assert content(new.database, table).rows == 2


def test_a_made_up_fact_waits_in_the_file_of_unsaved_players(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "WorldCharacter", Hunter)
    row = hunter(caught=3, bounties=BOUNTIES)
    states = [state_of(row, (SavedKind.PROGRESS,), 4)]
    write_spool(tmp_path / "spool", states)
    assert read_spool(tmp_path / "spool") == states


def test_a_fact_of_another_version_is_left_out_of_the_file(tmp_path: Path) -> None:
    row = hunter(caught=3, bounties=BOUNTIES)
    write_spool(tmp_path / "spool", [state_of(row, (SavedKind.PROGRESS,), 4)])
    [found] = read_spool(tmp_path / "spool")
    assert set(found.facts) == {
        name for name, one in saved_facts(WorldCharacter).items() if one.kind is SavedKind.PROGRESS
    }


def test_a_character_without_problems_is_the_same_object() -> None:
    row = hunter(caught=1, bounties=BOUNTIES)
    assert usable_world_character(row)[0] is row
