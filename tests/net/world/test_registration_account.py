"""The built-in world's row with the login server of its own process."""

from __future__ import annotations

from pathlib import Path

import pytest

from emu.errors import DuplicateName
from emu.link.settings import hash_link_password, link_password_matches
from emu.model import BUILT_IN_ACCOUNT
from emu.net.world.registration import built_in_account
from emu.store import Store
from emu.world.population.atlas import read_atlas
from emu.worlds import RegisteredWorld

ATLAS = read_atlas()


@pytest.fixture
def store(tmp_path: Path):
    with Store.create(tmp_path / "emu.sqlite") as opened:
        yield opened


def hashed(store: Store) -> str:
    world = store.login.worlds.find_by_account(BUILT_IN_ACCOUNT)
    assert world is not None
    return world.password


def test_the_built_in_world_gets_a_row_and_a_password_of_its_own(store: Store) -> None:
    made = built_in_account(store, "Norrath", 1.0, ATLAS)
    assert made.account == BUILT_IN_ACCOUNT
    assert link_password_matches(hashed(store), hash_link_password(made.password))


def test_each_start_draws_a_new_password_for_the_same_row(store: Store) -> None:
    first = built_in_account(store, "Norrath", 1.0, ATLAS)
    row = store.login.worlds.find("Norrath")
    second = built_in_account(store, "Norrath", 2.0, ATLAS)
    assert first.password != second.password
    assert store.login.worlds.find("Norrath").id == row.id


def test_a_new_name_in_the_configuration_renames_the_row(store: Store) -> None:
    built_in_account(store, "Norrath", 1.0, ATLAS)
    row = store.login.worlds.find("Norrath")
    built_in_account(store, "Luclin", 2.0, ATLAS)
    assert store.login.worlds.find("Norrath") is None
    assert store.login.worlds.find("Luclin").id == row.id


def test_a_name_that_another_world_has_is_refused(store: Store) -> None:
    store.login.worlds.add(RegisteredWorld(0, "Luclin", "other", ""), 0.0)
    built_in_account(store, "Norrath", 1.0, ATLAS)
    with pytest.raises(DuplicateName, match="Luclin"):
        built_in_account(store, "Luclin", 2.0, ATLAS)


def test_the_name_of_another_world_is_refused_with_the_cures(store: Store) -> None:
    store.login.worlds.add(RegisteredWorld(0, "Antonia", "anto", ""))
    with pytest.raises(DuplicateName, match=r"^world\.name: .*'antonia'; .*--world.*remove"):
        built_in_account(store, "antonia", 1.0, ATLAS)
    built_in_account(store, "Norrath", 1.0, ATLAS)
    with pytest.raises(DuplicateName, match="another registered world"):
        built_in_account(store, "Antonia", 1.0, ATLAS)
