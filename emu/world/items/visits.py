"""`Visits`: the windows of merchants, menders and bankers that players have open.

A visit ends when the player closes the window, opens another one, leaves the zone, or loses its
client. Whoever goes away from the spawn, or dies, keeps the window, but its acts change nothing.
"""

from __future__ import annotations

import enum
from typing import NamedTuple

from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.dealings import Dealing
from emu.world.actors.player import Player, refuses_dead
from emu.world.actors.reach import REACH, SLACK
from emu.world.actors.spawn import TOO_FAR, Spawn
from emu.world.item_events import WindowsGone
from emu.world.world import World


class Window(enum.Enum):
    """What a player has open."""

    SHOP = enum.auto()
    MENDER = enum.auto()
    BANK = enum.auto()


class Visit(NamedTuple):
    """One open window."""

    window: Window
    spawn: Spawn
    reach: float

    @property
    def dealing(self) -> Dealing:
        """What its spawn sells and repairs."""
        return self.spawn.look.dealing


class Visits:
    """The open windows of all players, one for each."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._visits: dict[int, Visit] = {}
        world.events.subscribe(WindowsGone, lambda event: self.end(event.player))

    def begin(self, player: Player, window: Window, commands: tuple[str, ...]) -> Visit | None:
        """Open a window at the player's target; return None if that has none of these commands.

        A player that is too far away reads so.
        """
        spawn = player.target
        if spawn is None or player.index_of(spawn) is None:
            return None
        verb = next(
            (
                one for one in (*spawn.verbs, *spawn.more_verbs)
                if one.command.casefold() in commands and one.is_for(player.spawn)
            ),
            None,
        )  # fmt: skip
        if verb is None:
            return None
        visit = Visit(window, spawn, (verb.distance or REACH) + SLACK)
        if not self._is_near(player, visit):
            return None
        self.end(player)
        self._visits[player.id] = visit
        return visit

    def begin_at(self, player: Player, window: Window, spawn: Spawn) -> Visit | None:
        """Open a window at a spawn whatever its verbs are; None if the player does not see it."""
        if player.index_of(spawn) is None:
            return None
        visit = Visit(window, spawn, REACH + SLACK)
        if not self._is_near(player, visit):
            return None
        self.end(player)
        self._visits[player.id] = visit
        return visit

    def of(self, player: Player, window: Window) -> Visit | None:
        """Return the open window of a kind, if its spawn is still there and near enough."""
        visit = self._visits.get(player.id)
        if visit is None or visit.window is not window:
            return None
        if player.index_of(visit.spawn) is None:
            self.end(player)
            return None
        return visit if self._is_near(player, visit) else None

    def has(self, player: Player, window: Window) -> Visit | None:
        """Return the open window of a kind, wherever its spawn is."""
        visit = self._visits.get(player.id)
        return visit if visit is not None and visit.window is window else None

    def end(self, player: Player) -> None:
        """Close what a player has open."""
        self._visits.pop(player.id, None)

    def has_bank(self, player: Player) -> bool:
        """Return whether a player has a bank open, whose banker is there and near enough."""
        visit = self.has(player, Window.BANK)
        if visit is None or player.index_of(visit.spawn) is None:
            return False
        return _is_in_reach(player, visit)

    def _is_near(self, player: Player, visit: Visit) -> bool:
        """Return whether a player can act at a spawn; the dead and those far away read why not."""
        if refuses_dead(player):
            return False
        if _is_in_reach(player, visit):
            return True
        send_text(player.client, TOO_FAR, ERROR_COLOR)
        return False


def _is_in_reach(player: Player, visit: Visit) -> bool:
    return player.position.distance_to(visit.spawn.position) <= visit.reach
