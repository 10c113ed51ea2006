"""The events of scripts: what happens in the world, and the functions that are called for it.

A function that a script lacks costs little. Who causes an event calls a method here and needs to
know nothing of scripts. Source: docs/guides/lua.md#events.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from emu.scripts.signatures import Handle, HandleKind
from emu.times import Clock, Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.clock import game_time
from emu.world.deadlines import Deadlines, Timetable
from emu.world.events import (
    Boarded,
    Cast,
    ClientLoaded,
    Doer,
    FightOver,
    MayHurt,
    MayUse,
    Signalled,
    Struck,
    Targeted,
    Thinks,
    Used,
    WidgetUsed,
)
from emu.world.item_events import NodeWorked
from emu.world.minds.hearing import HearingReach
from emu.world.minds.shares import Shares
from emu.world.scripts.bodies import Body, Home, Homes, given
from emu.world.scripts.calls import Calls
from emu.world.scripts.grids import GridEvents
from emu.world.scripts.waits import Waits
from emu.world.zones.zone import Zone

NOBODY: Final = Handle(HandleKind.PLAYER, None)
"""Stands for a player where there is none; functions treat it as missing, tests for nil do not."""
FIGHTING: Final = "combat"
"""The word of a spawn that fights."""
UNCHANGED: Final = None
"""What `health_changes` returns for damage that stays as it is."""


class SpawnEvents:
    """Calls the functions of spawns' scripts for what happens to the spawns."""

    reach = HearingReach(5.0, has_height=True)
    """How near a player must be to hail a spawn."""

    def __init__(self, calls: Calls, homes: Homes) -> None:
        self._calls = calls
        self._homes = homes

    # -- players ----------------------------------------------------------------------------------

    def mind_of(self, zone: Zone, spawn: Spawn) -> Body | None:
        """Return a spawn as scripts have it."""
        home = self._homes.get(zone)
        return home.bodies.get(spawn.id) if home is not None else None

    def listeners(self, zone: Zone, target: Spawn | None) -> list[tuple[Spawn | None, Body]]:
        """Return the spawn that a speaker has targeted: no other script hears a line."""
        body = self.mind_of(zone, target) if target is not None else None
        return [(None, body)] if body is not None else []

    def heard(self, body: Body, player: Player, text: str) -> None:
        """Call `hear_say` of the target of a player who says something."""
        self._calls.call(body, "hear_say", self._homes.player(player), text)

    def hailed(self, body: Body, player: Player) -> bool:
        """Call `hailed` of the target of a player, or `hailed_busy` while it fights.

        Returns whether `hailed` ran.
        """
        is_fighting = FIGHTING in body.spawn.words
        event = "hailed_busy" if is_fighting else "hailed"
        return self._calls.call(body, event, self._homes.player(player)) and not is_fighting

    def targeted(self, event: Targeted) -> None:
        """Call `targeted` of the spawn that a player has targeted."""
        body = self.mind_of(event.player.zone, event.target)
        if body is not None:
            self._calls.call(body, "targeted", self._homes.player(event.player))

    # -- verbs and spells -------------------------------------------------------------------------

    def may_use(self, player: Player, spawn: Spawn, command: str) -> bool:
        """Call `can_use_command` of a spawn; return whether a player may use a verb of it.

        A script without the function allows everything; one whose call fails, nothing.
        """
        body = self.mind_of(player.zone, spawn)
        if body is None:
            return True
        if not body.home.requirements.are_met(body, player):
            return False
        answer = self._calls.ask(body, "can_use_command", self._homes.player(player), command)
        # As in Lua: only false and nothing are untrue, and 0 is true.
        return not answer.is_found or (answer.value is not None and answer.value is not False)

    def is_asked(self, event: MayUse) -> None:
        """Refuse a verb that the script of its spawn does not allow a player."""
        if not self.may_use(event.player, event.target, event.verb.command):
            event.refusals.append("a script")

    def uses(self, event: Used) -> None:
        """Call the script of a spawn whose verb was used, unless the spawn leads somewhere."""
        if Doer.WAY in event.done_by:
            return
        if self.used(event.player, event.target, event.verb.command):
            event.done_by.add(Doer.SCRIPT)

    def used(self, player: Player, spawn: Spawn, command: str) -> bool:
        """Call the function with a verb's own name, and `casted_on`; return whether one ran."""
        body = self.mind_of(player.zone, spawn)
        if body is None:
            return False
        user = self._homes.player(player)
        has_own = self._calls.call(body, given(command), user) if command else False
        return self._calls.call(body, "casted_on", user, command) or has_own

    def door_used(self, event: WidgetUsed) -> None:
        """Let the script of a door answer its use."""
        if self.use_door(event.zone, event.target, event.player, is_open=event.is_open):
            event.answers.append("a script")

    def use_door(self, zone: Zone, spawn: Spawn, player: Player | None, *, is_open: bool) -> bool:
        """Call `usedoor` of a door that is used; return whether its script has such a function.

        Then the door does nothing itself. A script that uses a door has no player: the function
        gets a handle of nobody.
        """
        body = self._homes.body(spawn, zone)
        if body is None:
            return False
        user = self._homes.player(player) if player is not None else NOBODY
        return self._calls.ask(body, "usedoor", user, is_open).is_found

    def boarded(self, event: Boarded) -> None:
        """Call `board` of a transport that a player steps on, or `deboard` if it steps off."""
        name = "board" if event.is_on else "deboard"
        self._of(event.zone, event.transport, name, event.rider)

    def casted_on(self, event: Cast) -> None:
        """Call `casted_on` of all targets of a spell with its name, also if they resist it."""
        for target in event.targets:
            self._of(event.zone, target, "casted_on", event.spawn, event.name)

    def worked_on(self, event: NodeWorked) -> None:
        """Call `casted_on` of a node with the name of the ability: it is a spell to scripts."""
        player = event.player
        self._of(player.zone, event.node, "casted_on", player.spawn, event.ability)

    # -- fights -----------------------------------------------------------------------------------

    def aggro(self, zone: Zone, spawn: Spawn, victim: Spawn) -> bool:
        """Call `aggro` of a spawn that begins a fight."""
        return self._of(zone, spawn, "aggro", victim)

    def attacked(self, zone: Zone, spawn: Spawn, target: Spawn) -> bool:
        """Call `attacked` of a spawn that has come into a fight."""
        return self._of(zone, spawn, "attacked", target)

    def struck(self, zone: Zone, spawn: Spawn, target: Spawn) -> bool:
        """Call `auto_attack_tick` of a spawn after a blow of its main hand."""
        return self._of(zone, spawn, "auto_attack_tick", target)

    def health_changes(
        self, zone: Zone, spawn: Spawn, attacker: Spawn | None, damage: int
    ) -> int | None:
        """Call `healthchanged` before a spawn takes damage; return the damage it takes instead.

        None: the script leaves it as it is. 0: it takes none.
        """
        body = self._homes.body(spawn, zone)
        if body is None:
            return UNCHANGED
        value = self._calls.ask(body, "healthchanged", self._other(zone, attacker), damage).value
        if isinstance(value, bool) or not isinstance(value, int | float) or not value:
            return UNCHANGED
        if not math.isfinite(value):
            return UNCHANGED
        return max(0, int(value))

    def may_hurt(self, event: MayHurt) -> None:
        """Ask a spawn's script how much damage it takes."""
        other = self.health_changes(event.zone, event.spawn, event.foe, event.damage)
        if other is not None:
            event.answers.append(other)

    def has_struck(self, event: Struck) -> None:
        """Call the function of a spawn that has struck a foe."""
        if event.foe is not None:
            self.struck(event.zone, event.spawn, event.foe)

    def thinks(self, event: Thinks) -> None:
        """Call `Think` of a creature that decides by it what it does."""
        self._of(event.zone, event.spawn, "Think", event.foe)

    def fight_over(self, event: FightOver) -> None:
        """Call the function of a spawn that fights no more."""
        self.fight_ended(event.zone, event.spawn)

    def body(self, zone: Zone, spawn: Spawn) -> Body | None:
        """Return a spawn of the content file, or a player, as scripts have it."""
        return self._homes.body(spawn, zone)

    def died(self, zone: Zone, spawn: Spawn, killer: Spawn | None) -> None:
        """Call `death` of a spawn that died, and `killed` of the creature that killed it."""
        self._of(zone, spawn, "death", killer)
        murderer = self._other(zone, killer)
        dead = self._homes.body(spawn, zone)
        if murderer is not None and murderer.player is None and dead is not None:
            self._calls.call(murderer, "killed", dead)
        home = self._homes.get(zone)
        if home is not None and dead is not None:
            self._calls.call(home, "spawn_killed", dead, murderer)

    def group_died(self, zone: Zone, spawn: Spawn, killer: Spawn | None) -> bool:
        """Call `group_dead` of the last spawn of its group that died."""
        return self._of(zone, spawn, "group_dead", killer)

    def fight_ended(self, zone: Zone, spawn: Spawn) -> bool:
        """Call `CombatReset` of a spawn that lives and fights no more."""
        return self._of(zone, spawn, "CombatReset")

    def _of(
        self, zone: Zone, spawn: Spawn, event: str, other: Spawn | None = None, *more: str
    ) -> bool:
        """Call a function of a spawn's script with another spawn; return whether it ran."""
        body = self._homes.body(spawn, zone)
        return body is not None and self._calls.call(body, event, self._other(zone, other), *more)

    def _other(self, zone: Zone, spawn: Spawn | None) -> Body | None:
        return self._homes.body(spawn, zone) if spawn is not None else None


DUSK: Final = 19
DAWN: Final = 8
HOUR_PAUSE: Final = 10.0
"""Seconds between two looks at the world's clock, whose hour takes 180."""


class ZoneEvents:
    """Calls the functions of zones' own scripts."""

    def __init__(
        self, *, calls: Calls, homes: Homes, shares: Shares, waits: Waits, clock: Clock,
        grids: GridEvents, timetable: Timetable,
    ) -> None:  # fmt: skip
        self._calls = calls
        self._shares = shares
        self._homes = homes
        self._grids = grids
        self._clock = clock
        self._waits = waits
        self._hours: Deadlines[Home, str] = timetable.deadlines(
            "the clock of scripts", self._hour_is_over
        )
        self._new: set[int] = set()
        """The players who have come into the world and not yet stood in a zone."""
        self._loaded: set[int] = set()
        """The players whose clients had loaded their windows before the zone was ready."""
        self._signals: dict[int, str] = {}
        """The last signals of players' clients that came before the zone was ready."""

    # -- zones ------------------------------------------------------------------------------------

    def starts(self, zone: Zone) -> None:
        """Call `preinit_zone_script` before a zone's data are read; its file is known by name."""
        home = self._homes.of(zone)
        home.script = self._calls.files.find(f"ZoneScripts/{home.name}.lua")
        self._calls.call(home, "preinit_zone_script")

    def is_read(self, zone: Zone, script: str) -> None:
        """Take the script that a zone's row names; without a name it keeps the one by its own."""
        if script:
            self._homes.of(zone).script = script

    def is_ready(self, zone: Zone) -> None:
        """Call `init_zone_script`, and then `player_entry` for those who came before."""
        home = self._homes.of(zone)
        if home.is_ready:
            return
        home.is_ready = True
        self._waits.forget(home)
        self._calls.call(home, "init_zone_script")
        newcomers, home.newcomers = home.newcomers, []
        for player in newcomers:
            if player.zone is zone:
                self._entry(home, player)

    def ended(self, home: Home) -> None:
        """Forget a zone that ends."""
        self._hours.clear(home, "")
        self._grids.ended(home)

    # -- players ----------------------------------------------------------------------------------

    def arrived(self, player: Player) -> None:
        """Note a player who has come into the world."""
        self._new.add(player.id)

    def entered(self, player: Player) -> None:
        """Call `player_entry`, and `new_client` for the first zone of a session."""
        home = self._homes.get(player.zone)
        if home is None:
            self._new.discard(player.id)
        elif home.is_ready:
            self._entry(home, player)
        elif player not in home.newcomers:
            home.newcomers.append(player)

    def has_loaded(self, event: ClientLoaded) -> None:
        """Call `player_loadcomplete`: the player's client has loaded its windows."""
        player = event.player
        home = self._homes.get(player.zone)
        if home is None:
            return
        if home.is_ready and player.state in IN_ZONE:
            self._calls.call(home, "player_loadcomplete", self._homes.player(player))
        else:
            self._loaded.add(player.id)

    def signalled(self, event: Signalled) -> None:
        """Call `signal_changed` with the signal of a player's client."""
        player = event.player
        home = self._homes.get(player.zone)
        if home is not None and home.is_ready:
            self._calls.call(home, "signal_changed", self._homes.player(player), event.signal)
        elif home is not None:
            self._signals[player.id] = event.signal

    def left(self, player: Player) -> None:
        """Forget a player who has left a zone."""
        self._loaded.discard(player.id)
        self._signals.pop(player.id, None)
        for home in self._homes:
            if player in home.newcomers:
                home.newcomers.remove(player)

    def _entry(self, home: Home, player: Player) -> None:
        body = self._homes.player(player)
        if player.id in self._new:
            self._new.discard(player.id)
            self._calls.call(home, "new_client", body)
        self._calls.call(home, "player_entry", body)
        self._grids.entered(home, body)
        if player.id in self._loaded:
            self._loaded.discard(player.id)
            self._calls.call(home, "player_loadcomplete", body)
        if (signal := self._signals.pop(player.id, None)) is not None:
            self._calls.call(home, "signal_changed", body, signal)
        if self._hours.get(home, "") is None:
            self._look_at_clock(home)

    # -- the world's clock ------------------------------------------------------------------------

    def _hour_is_over(self, home: Home, _name: str, _now: Monotonic) -> None:
        """Look at the clock for a zone in which somebody is."""
        if self._homes.players_in(home):
            self._look_at_clock(home)

    def _look_at_clock(self, home: Home) -> None:
        """Call `dusk` and `dawn`; of a zone that starts at night `dusk`, by day neither."""
        self._hours.set(home, "", Monotonic(self._clock.now() + HOUR_PAUSE))
        is_night = not DAWN <= game_time(self._clock.moment()).hour < DUSK
        was_night, home.is_night = home.is_night, is_night
        if is_night is not was_night:
            event = "dusk" if is_night else "dawn"
            self._shares.do(home.script, partial(self._calls.call, home, event))
