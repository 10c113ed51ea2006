"""Applies changes of accounts and characters to players who are in the world.

A rank, a name or a mute can change while somebody plays, and an account or a character can be
banned, disabled or deleted. A command of any process of this world applies the change at once.
Another program changes only the database; `review` compares players with it every
`WorldRules.review` seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from emu.errors import StoreError
from emu.model import SEES_HIDDEN, CharacterStanding, WorldCharacter
from emu.processes.ports import AccountGate, Note
from emu.times import Moment, Monotonic
from emu.world.actors.hiding import set_hidden
from emu.world.actors.player import Player, PlayerState
from emu.world.entry import leaving
from emu.world.world import World

MUTED: Final = "account.muted"
CHANGED: Final = "character.changed"
"""Topics. `MUTED` has ``account_id`` and ``until``, `CHANGED` a ``char_id`` and its ``rank``."""


def subscribe(world: World) -> None:
    """Subscribe to mutes and ranks that commands of any process change."""

    def muted(note: Note) -> None:
        _mute_here(world, int(note["account_id"] or 0), Moment(float(note["until"] or 0.0)))

    def changed(note: Note) -> None:
        player = world.players.get(int(note["char_id"] or 0))
        if player is not None:
            rank = int(note["rank"] or 0)
            refresh(world, player, replace(player.character, admin_status=rank))

    world.bus.subscribe(MUTED, muted)
    world.bus.subscribe(CHANGED, changed)


def rank_changed(world: World, char_id: int, rank: int) -> None:
    """Apply a character's new rank at once, in whatever process it is played."""
    world.bus.publish(CHANGED, {"char_id": char_id, "rank": rank})


def refresh(world: World, player: Player, fresh: WorldCharacter) -> None:
    """Replace a player's character by one that was loaded just now; its rank, name and mute count.

    A player whose rank no longer allows it is not hidden any more.
    """
    before, player.character = player.character, fresh
    if fresh.name != before.name:
        world.players.renamed(player, before.name)
        player.spawn.set_info(name=fresh.name)
        world.presence.seen(player.id, name=fresh.name)
    player.muted_until = world.pending_mutes.get(fresh.account_id, fresh.muted_until)
    if fresh.admin_status < SEES_HIDDEN:
        set_hidden(world, player, hidden=False)
    if fresh.admin_status != before.admin_status and player.state not in _WITHOUT_TABLE:
        world.give_commands(player)


# -- mutes --------------------------------------------------------------------------------------


async def mute(world: World, account_id: int, until: Moment) -> None:
    """Mute all characters of an account until a moment. Raises `StoreError`.

    The mute counts at once in every process, also when it cannot be stored.
    """
    world.pending_mutes[account_id] = until
    _mute_here(world, account_id, until)
    world.bus.publish(MUTED, {"account_id": account_id, "until": until})
    await world.store.mute_account(account_id, until)
    if world.pending_mutes.get(account_id) == until:
        del world.pending_mutes[account_id]


def _mute_here(world: World, account_id: int, until: Moment) -> None:
    for player in of_account(world, account_id):
        player.muted_until = until


def of_account(world: World, account_id: int) -> Iterator[Player]:
    """Yield the players of this process that belong to an account."""
    return (one for one in world.players if one.character.account_id == account_id)


# -- who may stay -------------------------------------------------------------------------------


def send_away(world: World, account_id: int, reason: str, now: Monotonic) -> None:
    """Remove all players of an account from the world, in every process."""
    for player in list(of_account(world, account_id)):
        leaving.leave(world, player, reason, now)
    for present in world.presence:
        if present.account_id == account_id:
            world.presence.dismiss(present.char_id)


async def review(world: World, gate: AccountGate) -> None:
    """Compare the players of this process with the store, and apply what has changed.

    A player leaves whose account or address is banned, whose account is disabled or removed, or
    whose character is deleted. When the store does not answer, nothing changes.
    """
    players = list(world.players)
    if not players:
        return
    try:
        kept_out = frozenset(
            await gate.kept_out([(one.character.account_id, one.client.address) for one in players])
        )
        rows = await world.store.standings([player.id for player in players])
    except StoreError:
        world.count("review failed")
        return
    now = world.clock.now()
    standings = {row.id: row for row in rows}
    for player in players:
        if player.state is not PlayerState.GONE:
            _judge(world, player, standings.get(player.id), kept_out, now)


def _judge(
    world: World,
    player: Player,
    stored: CharacterStanding | None,
    kept_out: frozenset[int],
    now: Monotonic,
) -> None:
    if player.character.account_id in kept_out:
        leaving.leave(world, player, "its account or address is banned or disabled", now)
    elif stored is None:
        leaving.leave(world, player, "its character is deleted", now)
    elif stored.admin_status < 0:
        leaving.leave(world, player, "it is banned", now)
    else:
        known = player.character
        fresh = (stored.name, stored.admin_status, stored.muted_until)
        if fresh != (known.name, known.admin_status, known.muted_until):
            name, rank, until = fresh
            changed = replace(known, name=name, admin_status=rank, muted_until=until)
            refresh(world, player, changed)


_WITHOUT_TABLE: Final = frozenset((PlayerState.ZONING, PlayerState.LINK_DEAD, PlayerState.GONE))
"""States in which no client plays the character; the next one is sent all its commands."""
