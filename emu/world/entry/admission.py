"""Admission of characters: decided when a client asks for a key, and again when it shows the key.

In between players enter, keys are issued, and an operator may have locked the world or banned an
account. Source: docs/protocol/world/entering.md#admission for the order of the questions,
docs/protocol/characters.md#play-reply for the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emu.commands.registry import STATUS_BANNED, STATUS_BANNED_FOR_EVER
from emu.errors import LimitExceeded
from emu.limits.rates import EntryLimits, minutely
from emu.model import Handoff, WorldCharacter
from emu.processes.ports import HandoffKeys, Presence
from emu.reply_codes import PlayCode
from emu.times import Monotonic
from emu.world.rules import AdmissionRules


@dataclass(slots=True, eq=False)
class WorldAdmissionRules:
    """Admission by the rules, the players here, and the outstanding keys."""

    rules: AdmissionRules
    presence: Presence
    handoffs: HandoffKeys
    locked: bool = False
    """Whether only characters of a rank may enter. After a change, publish `status_changed`."""
    _counted: EntryLimits | None = None
    """How often accounts have entered."""

    @property
    def is_full(self) -> bool:
        """Whether the world has as many players as it may."""
        return 0 <= self.rules.max_players <= self.presence.players

    async def withdraw_refused(self) -> None:
        """Withdraw the keys of characters that a locked world refuses. Raises `StoreError`."""
        await self.handoffs.withdraw_entries(self.rules.locked_override)

    def reason_against(self, account_id: int, address: str, now: Monotonic) -> str | None:
        """Return why an account may not enter now, None if it may: it has entered too often."""
        return self._entry_limits().reason_against(account_id, address, now)

    def count_entry(self, account_id: int, address: str, now: Monotonic) -> None:
        """Count an entry of an account; `address` is its client's IP address."""
        self._entry_limits().take(account_id, address, now)

    def _entry_limits(self) -> EntryLimits:
        rules = self.rules
        account = minutely(rules.entries_per_minute, rules.entries_at_once)
        address = minutely(rules.address_entries_per_minute, rules.address_entries_at_once)
        counted = self._counted
        # A reload may have changed the rates; then the counts begin anew.
        if counted is None or (counted.account, counted.address) != (account, address):
            counted = self._counted = EntryLimits(account, address)
        return counted

    async def grant(
        self, characters: Sequence[WorldCharacter], account_id: int, char_id: int
    ) -> tuple[PlayCode, int]:
        """Answer a play request for one of an account's `characters`: play reply code and key.

        The key is 0 unless the code is `PlayCode.SUCCESS`. Outstanding keys count as players, and
        an account has one, whichever character it is for; game masters have one for each.
        """
        # Keys of others count as players: otherwise a full world would issue keys that it must
        # refuse later.
        expected = await self.handoffs.held_by_others(account_id)
        code = self.decide(characters, char_id, expected)
        if code != PlayCode.SUCCESS:
            return code, 0
        return await self.issue(characters, account_id, char_id)

    async def issue(
        self, characters: Sequence[WorldCharacter], account_id: int, char_id: int
    ) -> tuple[PlayCode, int]:
        """Issue the key of a character that may enter; see `grant`."""
        character = next(row for row in characters if row.id == char_id)
        rank = character.admin_status
        # The account's earlier key becomes invalid, so that two clients cannot enter with one
        # account.
        is_only = rank < self.rules.game_master
        try:
            return PlayCode.SUCCESS, await self.handoffs.issue(
                account_id, char_id, character.name, rank, is_only=is_only
            )
        except LimitExceeded:
            # The table of keys is bounded, or a login server with many accounts could fill the
            # memory.
            return PlayCode.WORLD_FULL, 0

    async def redeem(self, account_id: int, key: int) -> Handoff | None:
        """Take back a key that a client shows; None if the key is unknown or has expired."""
        return await self.handoffs.redeem(account_id, key)

    def on_entry(
        self, characters: Sequence[WorldCharacter], char_id: int, *, is_zoning: bool = False
    ) -> PlayCode:
        """Return the code for a character whose key was just taken back.

        Its place is reserved by the key, so only players in the world count. `is_zoning` is whether
        it was in the world before and only changes its zone or its process.
        """
        return self.decide(characters, char_id, 0, is_in=is_zoning)

    async def dismiss(self, char_id: int) -> None:
        """Refuse a character that no longer exists, and remove it if it is here."""
        await self.handoffs.withdraw(char_id)
        self.presence.dismiss(char_id)

    def decide(
        self,
        characters: Sequence[WorldCharacter],
        char_id: int,
        expected: int,
        *,
        is_in: bool = False,
    ) -> PlayCode:
        """Return the code, with `expected` keys of others as players.

        A character in the world (`is_in`) passes the lock and the limit.
        """
        # One character with this status bans the whole account.
        if any(row.admin_status == STATUS_BANNED_FOR_EVER for row in characters):
            return PlayCode.BANNED
        character = next((row for row in characters if row.id == char_id), None)
        if character is None:
            return PlayCode.CHARACTER_NOT_LOADED
        status = character.admin_status
        if status < 0:
            return PlayCode.BANNED if status == STATUS_BANNED else PlayCode.PROBLEM
        return self._decide_place(character, expected, is_in=is_in)

    def _decide_place(self, character: WorldCharacter, expected: int, *, is_in: bool) -> PlayCode:
        """Return the code for a character that is not banned, by account, lock and limit."""
        rules, status, char_id = self.rules, character.admin_status, character.id
        # A character that is in the world itself is taken over: its client may have crashed, and
        # the server cannot know that before the silence limit.
        is_elsewhere = self.presence.is_playing(character.account_id, besides=char_id)
        if status < rules.game_master and is_elsewhere:
            return PlayCode.ACCOUNT_IN_USE
        # It has its place already: a lock or a limit must not lose a player who only changes its
        # zone or its client.
        if is_in or self.presence.find(char_id) is not None:
            return PlayCode.SUCCESS
        if self.locked:
            return PlayCode.SUCCESS if status >= rules.locked_override else PlayCode.PROBLEM
        # The account's own players do not count: this entry takes the place of one of them.
        others = self.presence.players_besides(character.account_id) + expected
        if 0 <= rules.max_players <= others and status < rules.full_override:
            return PlayCode.WORLD_FULL
        return PlayCode.SUCCESS
