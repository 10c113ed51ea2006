"""Claims: which rows a process gets, and with which numbers of models."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from emu.appearance import Models
from emu.errors import StoreError
from emu.model import Handoff, WorldCharacter
from emu.net.world.claims import Claims
from emu.processes.claiming import UsedKey
from tests.support.coroutines import finish
from tests.support.database.stores import world_character
from tests.support.world.world_fakes import CharactersInMemory

CHARACTER = replace(world_character(account_id=101, name="Aldana"), id=5)


class Keys:
    """Keys beside the characters: key 9 of account 101 is that of character 5."""

    def __init__(self, characters: CharactersInMemory) -> None:
        self.characters = characters

    async def redeem_claiming(self, account_id: int, key: int, holder: str):
        if (account_id, key) != (101, 9):
            return UsedKey(None)
        rows = await self.characters.claim(account_id, 5, holder)
        return UsedKey(Handoff(101, 5, "Aldana"), rows, {})


class Bench:
    """A process named east, and the claims that its world knows of."""

    def __init__(self, *, has_others: bool) -> None:
        self.characters = CharactersInMemory(CHARACTER, replace(CHARACTER, id=6, name="Borvik"))
        self.claimed: list[tuple[int, int]] = []
        self.old_reads = 0
        cluster = SimpleNamespace(
            has_others=has_others, characters=self.characters,
            claiming_keys=Keys(self.characters) if has_others else None,
            processes=SimpleNamespace(name="east"),
        )  # fmt: skip
        saver = SimpleNamespace(is_current=self._is_current)
        world = SimpleNamespace(
            claimed=lambda row: self.claimed.append((row.id, row.term)),
            saves=SimpleNamespace(saver=saver),
        )
        self.claims = Claims(cluster, world, Models())

    def _is_current(self, _row: WorldCharacter) -> bool:
        self.old_reads -= 1
        return self.old_reads < 0


def test_a_node_claims_the_character_for_its_world() -> None:
    bench = Bench(has_others=True)
    rows = finish(bench.claims.claim(101, 5))
    assert [(row.id, row.holder) for row in rows] == [(5, "east"), (6, "")]
    assert bench.claimed == [(5, CHARACTER.term + 1)]


def test_a_node_takes_a_key_and_its_character() -> None:
    bench = Bench(has_others=True)
    assert bench.claims.can_take
    assert finish(bench.claims.use_key(101, 8)) == UsedKey(None)
    assert bench.claimed == []
    handoff, rows, things = finish(bench.claims.use_key(101, 9))
    assert (handoff, things) == (Handoff(101, 5, "Aldana"), {})
    assert [row.id for row in rows] == [5, 6]
    assert bench.claimed == [(5, CHARACTER.term + 1)]


def test_the_only_process_reads_without_a_write_until_the_rows_are_current() -> None:
    bench = Bench(has_others=False)
    bench.old_reads = 1
    rows = finish(bench.claims.claim(101, 5))
    assert [(row.id, row.holder) for row in rows] == [(5, ""), (6, "")]
    assert bench.claimed == []
    assert not bench.claims.can_take
    with pytest.raises(RuntimeError, match="keys in memory"):
        finish(bench.claims.use_key(101, 9))


def test_rows_that_stay_older_than_a_save_let_nobody_in() -> None:
    # Found by a simulation: the process read them for ever, and did nothing else.
    bench = Bench(has_others=False)
    bench.old_reads = 1_000_000
    with pytest.raises(StoreError, match="older state"):
        finish(bench.claims.claim(101, 5))
