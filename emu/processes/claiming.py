"""The interface to world keys that are stored beside the characters; see `emu.processes.ports`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from emu.items.held import Thing
from emu.ledger import Owner
from emu.model import Handoff, WorldCharacter

OwnedThings = Mapping[Owner, Sequence[Thing]]
"""Things by their owners; those without any are left out."""


class UsedKey(NamedTuple):
    """What a world key has led to."""

    handoff: Handoff | None
    """What the key admits; None if it is not valid."""
    characters: Sequence[WorldCharacter] = ()
    """The characters of its account, of which its own one is claimed."""
    things: OwnedThings | None = None
    """The things of its character and of its account; None if they were not read."""


class ClaimingKeys(Protocol):
    """World keys in the store that has the characters as well."""

    async def with_characters(self, account_id: int) -> tuple[Sequence[WorldCharacter], int]:
        """Return an account's characters, and how many unused keys belong to other accounts.

        They are what `WorldCharacterStore.of_account` and `HandoffKeys.held_by_others` return.
        """

    async def redeem_claiming(self, account_id: int, key: int, holder: str) -> UsedKey:
        """Use a key and make a process the holder of its character, in one transaction.

        Its things are read with it: nobody else changes them from the claim on. Nothing is
        returned of a key that is not valid.
        """
