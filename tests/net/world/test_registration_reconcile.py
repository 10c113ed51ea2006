from pathlib import Path

import pytest

from emu.model import Color, WorldCharacter
from emu.net.world.registration import reconcile
from emu.store import Store
from emu.world.population.atlas import read_atlas
from emu.worlds import RegisteredWorld

MAN = "ec/pc/human/human_male"


@pytest.fixture
def store(tmp_path: Path):
    with Store.create(tmp_path / "emu.sqlite") as opened:
        opened.login.accounts.add("bob", "hash", 1.0)
        opened.login.worlds.add(RegisteredWorld(0, "Norrath", "built-in", ""), 1.0)
        yield opened


def made_in_world(store: Store, name: str = "Aldana", account_id: int = 1) -> WorldCharacter:
    return store.world.characters.create(
        WorldCharacter(
            id=0, account_id=account_id, name=name, race=9, class_=1, gender=1, deity=0, level=3,
            starting_zone=4, zone_id=325, client_version=546, created=5.0,
            appearance={"body_size": 10, "race_file": MAN, "hair_file": "hair_01"},
            colors={"eyes2": Color(1, -2, 3, signed=True), "skin_color": Color(4, 5, 6)},
        )
    )  # fmt: skip


def test_a_character_the_world_made_and_the_list_missed_is_listed(store: Store) -> None:
    store.login.models.add("hair_01", 2500)
    character = made_in_world(store)
    assert reconcile(store, 1, read_atlas()) == 1
    (row,) = store.login.characters.of_account(1)
    assert (row.char_id, row.name, row.level) == (character.id, "Aldana", 3)
    assert row.zone_description == "Isle of Refuge"
    assert row.colors["eye_type"] == Color(1, -2, 3, signed=True)
    assert row.colors["skin_color"] == Color(4, 5, 6)
    assert row.appearance == {"body_size": 10, "race_type": 134, "hair_type": 2500}


def test_a_second_time_there_is_nothing_to_do(store: Store) -> None:
    made_in_world(store)
    reconcile(store, 1, read_atlas())
    assert reconcile(store, 1, read_atlas()) == 0
    assert len(store.login.characters.of_account(1)) == 1


def test_a_deletion_the_world_missed_is_done_there(store: Store) -> None:
    character = made_in_world(store)
    reconcile(store, 1, read_atlas())
    assert store.login.characters.delete(1, 1, character.id, "Aldana")
    assert reconcile(store, 1, read_atlas()) == 1
    assert store.world.characters.find(character.id) is None
    assert store.login.characters.of_account(1) == []
    assert reconcile(store, 1, read_atlas()) == 0


def test_a_character_of_no_account_is_let_be(store: Store) -> None:
    made_in_world(store, account_id=77)
    assert reconcile(store, 1, read_atlas()) == 0
