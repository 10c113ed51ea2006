"""Hidden players: hiding them, and finding the texts that name them.

A hidden player does not exist for anybody who may not see it. `emu.model.may_see` decides who may,
here and everywhere else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from emu.model import may_see
from emu.world.actors.player import Player
from emu.world.events import Arrived, HidingChanged, LeftWorld, StatusChanged
from emu.world.world import World

MOST_LEFT: Final = 1000
"""Characters that left while they were hidden whose names are kept."""
MOST_ACCOUNTS: Final = 10_000
"""Accounts whose names are known, of those that logged in last."""


def set_hidden(world: World, player: Player, *, hidden: bool) -> None:
    """Hide a player from all who may not see hidden players, or show it again."""
    if player.spawn.hidden == hidden:
        return
    player.spawn.set_visibility(hidden=hidden)
    world.processes.presence.seen(player.id, hidden=hidden)
    # An instance that only hidden players are in must not appear in public lists.
    world.list_zone(player.zone)
    world.events.publish(HidingChanged(player))
    world.events.publish(StatusChanged())


def sees(viewer: Player, other: Player) -> bool:
    """Return whether a player may know that another one is in the world."""
    return viewer is other or may_see(viewer.character.admin_status, other.spawn)


class Concealed:
    """Finds names of hidden players in public texts: log lines, names of accounts.

    A player who left the world while hidden stays concealed until it enters again.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._left: dict[int, tuple[str, int]] = {}
        """Name and account of the players who left while hidden, by character."""
        self._accounts: dict[int, str] = {}
        """Names of accounts, the one that logged in last at the end."""
        world.events.subscribe(LeftWorld, self._has_left)
        world.events.subscribe(Arrived, self._has_come)

    def logged_in(self, account_id: int, name: str) -> None:
        """Remember the name of an account."""
        # Removed and added again, so that the account moves to the end.
        self._accounts.pop(account_id, None)
        self._accounts[account_id] = name
        if len(self._accounts) > MOST_ACCOUNTS:
            del self._accounts[next(iter(self._accounts))]

    def names(self, text: str) -> bool:
        """Return whether a text contains the name of a hidden player or of its account."""
        # `presence` has the players of all processes, so a name is concealed wherever the text
        # comes from.
        hidden = [(one.name, one.account_id) for one in self._world.processes.presence.hidden]
        hidden += self._left.values()
        if not hidden:
            return False
        words = {name for name, _ in hidden}
        # The account's name identifies a hidden game master as well as the character's.
        words |= {self._accounts[number] for _, number in hidden if number in self._accounts}
        return _pattern(frozenset(words)).search(text) is not None

    def _has_come(self, event: Arrived) -> None:
        self._left.pop(event.player.id, None)

    def _has_left(self, event: LeftWorld) -> None:
        player = event.player
        if player.spawn.hidden:
            self._left[player.id] = player.name, player.character.account_id
            if len(self._left) > MOST_LEFT:
                # The oldest: its log lines have most likely left the recent ones already.
                del self._left[next(iter(self._left))]


@lru_cache(maxsize=16)
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern that finds one of some words as a whole, without regard to case."""
    joined = "|".join(sorted(map(re.escape, words)))
    # Whole words: "Ann" must not conceal every line with "channel".
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)", re.IGNORECASE)
