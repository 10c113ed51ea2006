"""Spirit shards that were in the text of a character's past are rows after the upgrade."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.database import Where
from emu.database.engines import upgrade_database
from emu.store import Store
from emu.store.repository import schemas
from tests.support.database.released import CHARACTER, database_before

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
    with database_before("-spirit-shards", request.param, tmp_path, fill) as where:
        yield where


def fill(connection: Any) -> None:
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
