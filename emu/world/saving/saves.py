"""Saves of players: periodically, on leaving, and after a change.

A client may make many changes at once, so a change is saved after a pause. A change that the server
confirms in words is stored first (`PlayerSaves.confirm`). `emu.world.saving.saver` carries out the
saves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from emu.errors import StoreError
from emu.facts import saved_facts
from emu.mailbox import PendingAnswer
from emu.model import FULL, SavedKind, WorldCharacter
from emu.processes.ports import WorldCharacterStore
from emu.times import Clock, Moment, Monotonic
from emu.world.actors.player import Player, PlayerDeadline, PlayerState
from emu.world.actors.sheet import Pool
from emu.world.actors.spawn import Destination
from emu.world.actors.unsaved import RATE, Confirmation
from emu.world.players import PlayerDeadlines
from emu.world.reports import Faults
from emu.world.saving.saver import Saver

__all__ = ["PlayerSaves", "state_of"]

PAUSE: Final = 2.0
"""Seconds that a change waits for others."""
SHORT_PAUSE: Final = 0.2
SOON: Final = {SavedKind.PROGRESS: SHORT_PAUSE, SavedKind.PAST: SHORT_PAUSE, SavedKind.QUESTS: 0.0}
"""Kinds that wait less, each with its pause: what a player has earned is lost to no crash.

A journal is saved in the next turn, with what its quests have given.
"""
MOST_SAVES: Final = 3
"""Saves for which things of a player wait: changes that come meanwhile need a further one."""
LONGEST_WAIT: Final = 2.0
"""Seconds after which a player is answered although its change is not stored yet."""

MOST_STATUS: Final = 0xFFFFFFFF
"""Status points of a character at most: client messages have 32 bits for them."""


class PlayerSaves:
    """Saves the players of one world through its `Saver`."""

    def __init__(
        self,
        saver: Saver,
        store: WorldCharacterStore,
        deadlines: PlayerDeadlines,
        faults: Faults,
        *,
        answer: Callable[[], PendingAnswer],
        clock: Clock,
        save_interval: Callable[[], float],
    ) -> None:
        """`answer` makes an object that a coroutine can wait for.

        `save_interval` returns the seconds between two saves of a player that changes nothing.
        """
        self._clock = clock
        self.saver = saver
        self.characters = store
        self._deadlines = deadlines
        self._faults = faults
        self._answer = answer
        self._save_interval = save_interval
        self.others: list[Callable[[Player], Awaitable[None]]] = []
        """Waits for what other components store of a player; each may raise `StoreError`."""
        deadlines.on(PlayerDeadline.SAVE, self._save_again)
        deadlines.on(PlayerDeadline.SAVE_CHANGES, self._save_changes)
        deadlines.on(PlayerDeadline.CONFIRMED, lambda player, _now: self.not_confirmed(player))

    def changed(self, player: Player, kind: SavedKind, now: Monotonic) -> None:
        """Save a player soon, because something of it has changed."""
        player.unsaved.kinds.add(kind)
        # The first change starts the pause and later ones join, so a busy client is still saved.
        self._save_by(player, Monotonic(now + SOON.get(kind, PAUSE)))

    def set_facts(self, player: Player, now: Monotonic, **facts: Any) -> None:
        """Change saved facts of a player's character, and save them soon."""
        player.character = replace(player.character, **facts)
        declared = saved_facts(type(player.character))
        for kind in dict.fromkeys(SavedKind(declared[name].kind) for name in facts):
            self.changed(player, kind, now)

    def add_status(self, player: Player, points: int) -> None:
        """Give a player status points, or take them if `points` is negative; save them soon."""
        if points:
            total = min(MOST_STATUS, max(0, player.character.status_points + points))
            self.set_facts(player, self._clock.now(), status_points=total)

    async def confirm(self, player: Player, kind: SavedKind) -> None:
        """Save a change of a player now, and wait until it is stored.

        Raises `StoreError` if it is not stored within `LONGEST_WAIT` seconds; it stays unsaved, and
        the server stores it as soon as it can. A player who makes many such changes waits up to a
        second for one save of all of them, so that nobody can flood the store.
        """
        now, done, deadlines = self._clock.now(), self._answer(), self._deadlines
        player.unsaved.kinds.add(kind)
        mine, all_of_it = Confirmation(done), player.unsaved
        all_of_it.waiting.append(mine)
        if deadlines.get(player, PlayerDeadline.CONFIRMED) is None:
            deadlines.set(player, PlayerDeadline.CONFIRMED, Monotonic(now + LONGEST_WAIT))
        try:
            if all_of_it.may_save(now):
                self.save(player)
            else:
                self._save_by(player, Monotonic(now + 1 / RATE))
            await done
        finally:
            mine.is_over = True
            all_of_it.waiting.remove(mine)
            if not all_of_it.waiting:
                deadlines.clear(player, PlayerDeadline.CONFIRMED)

    def _save_again(self, player: Player, now: Monotonic) -> None:
        # Set again before the save: if the save raises, the next one still comes.
        due = Monotonic(now + self._save_interval())
        self._deadlines.set(player, PlayerDeadline.SAVE, due)
        self.save_or_report(player)

    def _save_changes(self, player: Player, _now: Monotonic) -> None:
        # Things that wait for the store take the character along (`begin`).
        if not player.holdings.are_waiting:
            self.save_or_report(player)

    async def begin(self, player: Player) -> None:
        """Save what has changed of a player; return when the save is on its way to the store.

        What is given to the store at once then is stored in the same transaction: a quest's step,
        and the things that it takes or gives.
        """
        for _ in range(MOST_SAVES):  # a save that raises leaves all of it unsaved
            if not player.unsaved.kinds or player.state is PlayerState.GONE:
                return
            self.save_or_report(player)
            await self.saver.begun(player.id, self._answer)

    def not_confirmed(self, player: Player) -> None:
        """End the waits of `confirm` with an error: the store takes too long."""
        for one in list(player.unsaved.waiting):
            one.over(StoreError("the database does not answer"))

    def _save_by(self, player: Player, due: Monotonic) -> None:
        """Save a player's changes at a time at the latest."""
        planned = self._deadlines.get(player, PlayerDeadline.SAVE_CHANGES)
        if planned is None or planned > due:
            self._deadlines.set(player, PlayerDeadline.SAVE_CHANGES, due)

    def save(self, player: Player, also: Iterable[SavedKind] = ()) -> None:
        """Save a player now; `also` are kinds that have changed just now."""
        row = state_of(player, self._clock.now())
        if (row.health, row.power) != (player.character.health, player.character.power):
            # Blows ask for no save of their own: health is stored with whatever else changes.
            player.character = replace(player.character, health=row.health, power=row.power)
            player.unsaved.kinds.add(SavedKind.VITALS)
        # Emptied before the save: a change that comes while it is in flight belongs to the next
        # one.
        changes, player.unsaved.kinds = player.unsaved.kinds.union(also), set()
        self.saver.save_state(row, changes, player.unsaved.give())

    def save_or_report(self, player: Player) -> None:
        """Save a player; if that raises, report it and try once more with everything it has.

        It is unknown what the attempt that raised has stored. If the second attempt raises too,
        the next save stores everything.
        """
        for task in ("saving a player", "saving a player again"):
            if self._faults.attempt(task, player, self.save, player):
                return
            # Everything counts as changed, because it is unknown which kinds were given to the
            # saver.
            player.unsaved.kinds.update(SavedKind)

    def played(self, player: Player, moment: Moment) -> None:
        """Save when a player was played last."""
        player.character = replace(player.character, last_played=moment)
        self.save(player, (SavedKind.PLAYED,))

    async def store(self, player: Player, to: Destination) -> None:
        """Save a player at its destination and wait for it: another process reads it next.

        Raises `StoreError`.
        """
        # The destination counts and not the place where the player stands: the other process enters
        # it there.
        place = to.position or player.position
        row = replace(state_of(player, self._clock.now()), zone_id=to.zone_id, place=place)
        changes, player.unsaved.kinds = player.unsaved.kinds, set()
        await self.saver.store(row, changes, self._answer, player.unsaved.give())
        await self._others_stored(player)

    async def stored(self, player: Player) -> None:
        """Wait until what was saved of a player last is stored. Raises `StoreError`."""
        await self.saver.stored(player.id, self._answer)
        await self._others_stored(player)

    async def _others_stored(self, player: Player) -> None:
        for wait in self.others:
            await wait(player)


def state_of(player: Player, now: Monotonic) -> WorldCharacter:
    """Return a player's character as it is now, at its destination if it changes the zone."""
    zone_id, place = player.zone.zone_id, player.position
    # While the zone changes, a save must not store the place that the player has left.
    if player.journey.destination is not None:
        zone_id, place = (
            player.journey.destination.zone_id,
            player.journey.destination.position or place,
        )
    return replace(
        player.character,
        zone_id=zone_id,
        place=place,
        relations=tuple((int(kind), name) for kind, name in player.relations.rows()),
        titles=player.titles.given,
        prefix=player.titles.prefix,
        suffix=player.titles.suffix,
        hotkeys=player.client_data.hotbars.keys,
        channels=tuple(player.channels.values()),
        options=player.options.text,
        past=player.past.text,
        client_data=player.client_data.text,
        quests=player.journal.text,
        played=player.played(now),
        health=_stored(player.spawn.sheet.health),
        power=_stored(player.spawn.sheet.power),
    )


def restore_vitals(player: Player) -> None:
    """Give a player that has come the health and power with which it has left; 0 is dead."""
    sheet, character = player.spawn.sheet, player.character
    for pool, stored in ((sheet.health, character.health), (sheet.power, character.power)):
        if stored != FULL:
            pool.set_current(stored)
    player.spawn.show_pools()


def _stored(pool: Pool) -> int:
    """Return how much of a pool is stored: what is full stays full, whatever the most is then."""
    return FULL if pool.current >= pool.most else pool.current
