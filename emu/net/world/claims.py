"""Characters that enter: this process becomes their holder, and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.appearance import Models
from emu.errors import StoreError
from emu.model import WorldCharacter
from emu.net.cluster.service import ProcessesEndpoint
from emu.processes.claiming import UsedKey
from emu.world.actors.spawn import with_models
from emu.world.world import World

MOST_READS: Final = 10
"""How often rows are read that are older than what was saved."""


class Claims:
    """The claims of one process; `can_take` says whether `use_key` may be called."""

    def __init__(self, cluster: ProcessesEndpoint, world: World, models: Models) -> None:
        self._cluster = cluster
        self._world = world
        self._models = models
        self.can_take = cluster.claiming_keys is not None

    async def claim(self, account_id: int, char_id: int) -> Sequence[WorldCharacter]:
        """Make this process the holder of a character; return its account's characters.

        The only process of a world holds all characters without a write. Raises `StoreError`.
        """
        if not self._cluster.has_others:
            return await self._characters_of(account_id)
        holder = self._cluster.processes.name
        rows = await self._cluster.characters.claim(account_id, char_id, holder)
        return await self._claimed(rows, char_id)

    async def use_key(self, account_id: int, key: int) -> UsedKey:
        """Use a world key, and do what `claim` does for its character, in one call of the store.

        Returns nothing of a key that is not valid for this account. Raises `StoreError`.
        """
        keys = self._cluster.claiming_keys
        if keys is None:
            raise RuntimeError("the only process of a world has its keys in memory")
        used = await keys.redeem_claiming(account_id, key, self._cluster.processes.name)
        if used.handoff is None:
            return used
        rows = await self._claimed(used.characters, used.handoff.char_id)
        return used._replace(characters=rows)

    async def _claimed(
        self, rows: Sequence[WorldCharacter], char_id: int
    ) -> Sequence[WorldCharacter]:
        for row in rows:
            # Before anything else is awaited: a save that begins from now on needs the new term.
            if row.id == char_id:
                self._world.claimed(row)
        return await self._with_models(rows)

    async def _characters_of(self, account_id: int) -> Sequence[WorldCharacter]:
        """Return an account's characters with the numbers of their models.

        If one of them was saved meanwhile, the rows are older than the save and are read again.
        Raises `StoreError` if they stay older: another program has put an earlier state back.
        """
        for _ in range(MOST_READS):
            made = await self._with_models(await self._cluster.characters.of_account(account_id))
            if all(self._world.saves.saver.is_current(row) for row in made):
                return made
        raise StoreError("the database has an older state of a character than was saved")

    async def _with_models(self, rows: Sequence[WorldCharacter]) -> Sequence[WorldCharacter]:
        return [await with_models(row, self._models) for row in rows]
