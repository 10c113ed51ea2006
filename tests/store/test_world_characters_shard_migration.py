"""Spirit shards that were in the text of a character's past are rows after the upgrade."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from emu.database import Where
from emu.database.engines import Schemas, create_database, upgrade_database
from emu.database.sqlite import in_user_version
from emu.store import Store
from emu.store.repository import FIRST_ON_SERVERS, schemas
from tests.support.database.engines import empty_database
from tests.support.database.released import CHARACTER, before

SHARDS = [[220, 1.5, -2.0, 3, 90.25, 7, 500], [12, 0.0, 0.0, 0.0, 0.0, 0, 25]]
PASTS = {
    1: json.dumps({"tutorial": 2, "shards": SHARDS}),
    2: "",
    3: json.dumps({"factions": {"11": 200}}),
    4: json.dumps({"shards": []}),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Where]:
    """A database of the release before, with pasts with and without shards."""
    name = "-spirit-shards"
    older = Schemas(
        in_user_version(before("store", name)),
        before("store-postgresql", name, FIRST_ON_SERVERS),
    )
    if request.param == "sqlite":
        fill(tmp_path / "emu.sqlite", older)
        yield tmp_path / "emu.sqlite"
        return
    with empty_database() as where:
        fill(where, older)
        yield where


def fill(where: Where, older: Schemas) -> None:
    with create_database(where, older) as database, database.transaction() as connection:
        for number, past in PASTS.items():
            connection.execute(CHARACTER, (number, f"N{number}", f"n{number}", 0, False))
            connection.execute(
                "UPDATE world_characters SET past = ? WHERE id = ?", (past, number)
            )  # fmt: skip


def test_all_shards_are_there_after_the_upgrade(place: Where) -> None:
    upgrade_database(place, schemas())
    with Store.open(place) as store:
        found = {
            number: [
                [one.zone_id, one.x, one.y, one.z, one.heading, one.grid, one.debt]
                for one in store.world.characters.find(number).shards
            ]
            for number in PASTS
        }
        assert found == {1: SHARDS, 2: [], 3: [], 4: []}
        first, second = store.world.characters.find(1).shards
        assert (first.number, second.number) == (1, 2)
        assert first.made == second.made > 1.7e9
