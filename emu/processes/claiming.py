"""The interface to world keys that are stored beside the characters; see `emu.processes.ports`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from emu.model import Handoff, WorldCharacter


class ClaimingKeys(Protocol):
    """World keys in the store that has the characters as well."""

    async def with_characters(self, account_id: int) -> tuple[Sequence[WorldCharacter], int]:
        """Return an account's characters, and how many unused keys belong to other accounts.

        They are what `WorldCharacterStore.of_account` and `HandoffKeys.held_by_others` return.
        """

    async def redeem_claiming(
        self, account_id: int, key: int, holder: str
    ) -> tuple[Handoff | None, Sequence[WorldCharacter]]:
        """Use a key and make a process the holder of its character, in one transaction.

        Returns what `HandoffKeys.redeem` and `WorldCharacterStore.claim` return; None and nobody
        if the key is not valid.
        """
