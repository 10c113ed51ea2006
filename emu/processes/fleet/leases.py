"""Which process plays a character, so that none stores what it was before another one played it.

A process that was cut off goes on with whom it has; meanwhile they may come in elsewhere. Whoever
takes a character's key back plays it from then on, and only that process may store its state.
"""

from __future__ import annotations

from emu.model import Handoff
from emu.processes.ports import HandoffKeys


class Leases:
    """Characters and their processes, kept by the hub."""

    __slots__ = ("_holders",)

    def __init__(self) -> None:
        self._holders: dict[int, str] = {}

    def take(self, char_id: int, process: str) -> None:
        """Note that a process plays a character from now on."""
        self._holders[char_id] = process

    def may_store(self, char_id: int, process: str) -> bool:
        """Say whether a process may store a character; the first that does holds it."""
        return self._holders.setdefault(char_id, process) == process


class LeasedKeys:
    """`HandoffKeys` as one process uses them: who redeems a key plays its character."""

    def __init__(self, keys: HandoffKeys, leases: Leases, process: str) -> None:
        self._keys = keys
        self._leases = leases
        self._process = process
        self.issue = keys.issue
        self.withdraw = keys.withdraw
        self.withdraw_account = keys.withdraw_account
        self.held_by_others = keys.held_by_others

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take a key back; None when it is unknown, used, too old or another account's."""
        found = await self._keys.redeem(account_id, key)
        if found is not None:
            self._leases.take(found.char_id, self._process)
        return found
