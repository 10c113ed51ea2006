"""Two processes with one database: only the one that let a character in last changes anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import reactor

from emu.database import Where
from emu.errors import OutOfDate
from emu.model import Hotkey, Membership, Title
from emu.net.scheduler import Scheduler
from emu.net.store import Storage
from tests.support.database.engines import store_database
from tests.support.database.stores import saved_state, world_character

TABLES = (
    "world_characters", "world_relations", "world_titles", "world_hotkeys", "world_memberships",
    "world_skills", "world_languages", "handoff_keys",
)  # fmt: skip
CHANGES: dict[str, Any] = {
    "zone_id": 33, "last_played": 9.0, "relations": ((0, "Borvik"),), "hotkeys": (Hotkey(1, 2, 4),),
    "channels": (Membership("Crafts", "x"),),
    "titles": (Title("Sir", is_prefix=True),), "prefix": "Sir", "suffix": "",
}  # fmt: skip


@asynccontextmanager
async def processes(engine: str, folder: Path) -> AsyncIterator[tuple[Storage, Storage]]:
    with ExitStack() as stack:
        where: Where = folder / "emu.sqlite"
        if engine == "postgresql":
            where = stack.enter_context(store_database())
        both = (Storage(where, reactor, Scheduler(reactor)) for _ in range(2))
        first, second = both
        yield first, second
        await first.close(is_last=False)
        await second.close()


def content(storage: Storage) -> dict[str, list[tuple[Any, ...]]]:
    """Return all rows of all tables of the world's characters."""
    with storage.direct.reading() as connection:
        return {
            table: sorted(tuple(row) for row in connection.execute(f"SELECT * FROM {table}"))
            for table in TABLES
        }


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_a_process_that_was_stopped_writes_nothing(engine: str, tmp_path: Path) -> None:
    async with processes(engine, tmp_path) as (stopped, other):
        made = await stopped.world_characters.create(world_character())
        key = await stopped.handoffs.issue(1, made.id, made.name)
        assert await other.handoffs.redeem(2, key) is None, "another account's"
        assert await stopped.handoffs.redeem(1, key) is not None
        [mine] = await stopped.world_characters.claim(1, made.id, "stopped")
        state = saved_state(mine, 1, term=mine.term, last_played=5.0)
        await stopped.world_characters.save_character(made.id, state)
        # It stands still here for a minute, and its player logs in again.
        again = await other.handoffs.issue(1, made.id, made.name)
        assert await other.handoffs.redeem(1, again) is not None
        [theirs] = await other.world_characters.claim(1, made.id, "other")
        assert (theirs.last_played, theirs.holder, theirs.term) == (5.0, "other", mine.term + 1)
        before = content(other)
        for revision in (2, 1000):
            late = saved_state(mine, revision, term=mine.term, **CHANGES)
            with pytest.raises(OutOfDate, match="another process plays Ayla now"):
                await stopped.world_characters.save_character(made.id, late)
        assert content(other) == before
        await other.world_characters.save_character(
            made.id, saved_state(theirs, 2, term=theirs.term, **CHANGES)
        )
        [found] = await stopped.world_characters.of_account(1)
        assert (found.zone_id, found.relations) == (33, ((0, "Borvik"),))
