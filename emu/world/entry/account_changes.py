"""Applies changes of accounts and characters to players who are in the world.

A rank, a name or a mute can change while a player is in the world, and an account or a character
can be banned, disabled or deleted. A command of any process of this world applies the change at
once. Another program changes only the database; `review` compares players with it every
`WorldRules.review` seconds, and when a program asks for it (`ask_for_review`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from emu.errors import StoreError
from emu.facts import saved_facts
from emu.model import SEES_HIDDEN, CharacterStanding, WorldCharacter
from emu.processes.ports import AccountGate, Note
from emu.times import Moment, Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import Player, PlayerState
from emu.world.entry.leaving import Departures, LeaveReason
from emu.world.events import RankChanged
from emu.world.hiding import set_hidden
from emu.world.messages import NOT_ZONING
from emu.world.world import World

MUTED: Final = "account.muted"
CHANGED: Final = "character.changed"
REVIEW: Final = "accounts.review"
"""Topics. `REVIEW` asks each process for a `review` of its players. `MUTED` has ``account_id`` and
``until``, `CHANGED` a ``char_id`` and its ``rank``.
"""


KEPT_OUT: Final = "Your account or address is banned, or your account is disabled."
DELETED: Final = "Your character is deleted."
BANNED: Final = "Your character is banned."
"""What players read before they leave."""


class AccountChanges:
    """Applies ranks, names, mutes and bans to the players of this process."""

    def __init__(self, world: World, departures: Departures) -> None:
        """Subscribe to mutes and ranks that commands of any process change."""
        self._world = world
        self._departures = departures
        world.processes.bus.subscribe(MUTED, self._muted)
        world.processes.bus.subscribe(CHANGED, self._rank_changed)

    def of_account(self, account_id: int) -> Iterator[Player]:
        """Yield the players of this process that belong to an account."""
        return (one for one in self._world.players if one.character.account_id == account_id)

    # -- ranks and names ------------------------------------------------------------------------

    def rank_changed(self, char_id: int, rank: int) -> None:
        """Apply a character's new rank at once, whatever process it is played in."""
        self._world.processes.bus.publish(CHANGED, {"char_id": char_id, "rank": rank})

    def _rank_changed(self, note: Note) -> None:
        player = self._world.players.get(int(note["char_id"] or 0))
        if player is not None:
            # The note has only the rank; everything else of the character is as it was loaded.
            rank = int(note["rank"] or 0)
            self.refresh(player, replace(player.character, admin_status=rank))

    def refresh(self, player: Player, fresh: WorldCharacter) -> None:
        """Replace a player's character by one that was just loaded, with its rank, name and mute.

        What the server saves of a player is kept: the store may be behind. A hidden player whose
        new rank may not hide becomes visible.
        """
        world = self._world
        before = player.character
        fresh = replace(
            fresh, **{name: getattr(before, name) for name in saved_facts(type(before))}
        )
        if fresh.ledger_revision < before.ledger_revision:
            # Read before the last movement of its coins.
            fresh = replace(fresh, coins=before.coins, ledger_revision=before.ledger_revision)
        player.character = fresh
        if fresh.name != before.name:
            world.players.renamed(player, before.name)
            player.spawn.set_info(name=fresh.name)
            world.processes.presence.seen(player.id, name=fresh.name)
        # `fresh` may have been read before a mute that is being stored now, which must not be lost.
        player.limits.muted_until = world.players.pending_mutes.get(
            fresh.account_id, fresh.muted_until
        )
        if fresh.admin_status < SEES_HIDDEN:
            set_hidden(world, player, hidden=False)
        # A client that changes the zone is sent its commands on arrival, with the new rank.
        if fresh.admin_status != before.admin_status and player.state in NOT_ZONING:
            world.events.publish(RankChanged(player))

    # -- mutes ----------------------------------------------------------------------------------

    async def mute(self, account_id: int, until: Moment) -> None:
        """Mute all characters of an account until a moment. Raises `StoreError`.

        The mute applies at once in every process, even if it cannot be stored.
        """
        world = self._world
        # First of all: players who enter while the store is slow, or down, are muted from this.
        world.players.pending_mutes[account_id] = until
        self._mute_here(account_id, until)
        world.processes.bus.publish(MUTED, {"account_id": account_id, "until": until})
        await world.saves.characters.mute_account(account_id, until)
        # A later mute of the same account may be waiting for the store by now; that one keeps its
        # entry.
        if world.players.pending_mutes.get(account_id) == until:
            del world.players.pending_mutes[account_id]

    def _muted(self, note: Note) -> None:
        self._mute_here(int(note["account_id"] or 0), Moment(float(note["until"] or 0.0)))

    def _mute_here(self, account_id: int, until: Moment) -> None:
        for player in self.of_account(account_id):
            player.limits.muted_until = until

    # -- bans and deletions ---------------------------------------------------------------------

    def send_away(self, account_id: int, reason: str, notice: str, now: Monotonic) -> None:
        """Remove all players of an account from the world, in every process.

        `reason` is for the log. Players of this process read `notice` before they leave: the codes
        of a login and of an entry cannot say until when an account is banned.
        """
        # A list, because leaving changes the players that the iterator walks through.
        for player in list(self.of_account(account_id)):
            self._leave(player, reason, notice, now)
        for present in self._world.processes.presence.of_account(account_id):
            self._world.processes.presence.dismiss(present.char_id)

    def _leave(self, player: Player, reason: str, notice: str, now: Monotonic) -> None:
        if player.is_online and notice:
            send_text(player.client, notice, ERROR_COLOR)
        self._departures.leave(player, reason, now)

    def ask_for_review(self) -> None:
        """Start a review in every process of this world."""
        self._world.processes.bus.publish(REVIEW, {})

    async def review(self, gate: AccountGate) -> None:
        """Compare the players of this process with the store, and apply what has changed.

        A player leaves if its account or address is banned, its account is disabled or removed, or
        its character is deleted. If the store does not answer, nothing changes.
        """
        world = self._world
        # The store is asked once for all of them, not once for each: a full world would be
        # thousands of queries.
        players = list(world.players)
        if not players:
            return
        try:
            kept_out = frozenset(
                await gate.kept_out(
                    [(one.character.account_id, one.client.address) for one in players]
                )
            )
            rows = await world.saves.characters.standings([player.id for player in players])
        except StoreError:
            world.count("review failed")
            return
        now = world.clock.now()
        stored = {row.id: row for row in rows}
        for player in players:
            # It has left while this coroutine waited for the store.
            if player.state is PlayerState.GONE:
                continue
            if player.character.account_id in kept_out:
                self._leave(player, LeaveReason.KEPT_OUT, KEPT_OUT, now)
            else:
                self._apply(player, stored.get(player.id), now)

    def _apply(self, player: Player, stored: CharacterStanding | None, now: Monotonic) -> None:
        if stored is None:
            self._leave(player, LeaveReason.DELETED, DELETED, now)
        elif stored.admin_status < 0:
            self._leave(player, LeaveReason.BANNED, BANNED, now)
        else:
            known = player.character
            name, rank, until = stored.name, stored.admin_status, stored.muted_until
            if (name, rank, until) != (known.name, known.admin_status, known.muted_until):
                fresh = replace(known, name=name, admin_status=rank, muted_until=until)
                self.refresh(player, fresh)
