"""Uses of verbs that take time: they run at their end, or are broken off before it.

Source: docs/guides/zones.md#verbs-that-take-time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.player import IN_ZONE, Player, PlayerDeadline, VerbUse
from emu.world.actors.spawn import Spawn, Verb
from emu.world.events import Died, VerbBegun, VerbBroken
from emu.world.speech.spoken import play_visual
from emu.world.world import World

STEP: Final = 0.5
"""How far a player may move meanwhile, in units."""
INTERRUPTED: Final = "Interrupted!"


class VerbUses:
    """Lets players take their time for verbs; a player uses one at a time."""

    def __init__(
        self, world: World, finish: Callable[[Player, Spawn, Verb, Monotonic], None]
    ) -> None:
        """`finish` does what a verb stands for."""
        self._world = world
        self._finish = finish
        world.players.deadlines.on(PlayerDeadline.VERB, self._is_done)
        world.events.subscribe(Died, self._died)

    def begin(self, player: Player, spawn: Spawn, verb: Verb, now: Monotonic) -> None:
        """Use a verb now, or after its time; break off what the player was doing.

        The verb that the player is using already goes on: players click again when they wait.
        """
        use = player.use
        is_using = self._world.players.deadlines.get(player, PlayerDeadline.VERB) is not None
        if is_using and use is not None and use.spawn is spawn and use.verb.command == verb.command:
            return
        self.break_off(player)
        players = self._world.players
        if verb.visual:
            viewers = [one for one in players if one.zone is player.zone]
            play_visual(player.spawn, viewers, verb.visual, verb.cast_time, (spawn,))
        if verb.cast_time <= 0.0:
            self._finish(player, spawn, verb, now)
            return
        player.use = VerbUse(spawn, verb, player.zone, player.position)
        due = Monotonic(now + verb.cast_time)
        self._world.players.deadlines.set(player, PlayerDeadline.VERB, due)
        self._world.events.publish(VerbBegun(player, spawn, verb))

    def moved(self, player: Player) -> None:
        """Break off a player's use if it has moved."""
        use = player.use
        if use is not None and player.position.distance_to(use.began) > STEP:
            self.break_off(player)

    def break_off(self, player: Player) -> None:
        """End a player's use without effect."""
        use, player.use = player.use, None
        # Who changes the zone has lost the deadline already.
        if self._world.players.deadlines.clear(player, PlayerDeadline.VERB):
            self._broken(player, use)

    def _died(self, event: Died) -> None:
        """Break off what a player uses who dies."""
        player = self._world.players.of_spawn(event.victim)
        if player is not None:
            self.break_off(player)

    def _broken(self, player: Player, use: VerbUse | None) -> None:
        send_text(player.client, INTERRUPTED)
        if use is not None:
            self._world.events.publish(VerbBroken(player, use.spawn, use.verb))

    def _is_done(self, player: Player, now: Monotonic) -> None:
        """Do what the verb stands for whose time is over."""
        use = player.use
        if use is None:
            return
        spawn, verb = use.spawn, use.verb
        # A way, a script or a game master may have moved the player, and the spawn may be gone.
        is_here = (
            player.state in IN_ZONE
            and player.zone is use.zone
            and player.index_of(spawn) is not None
            and player.position.distance_to(use.began) <= STEP
            and any(
                one.command == verb.command and one.is_for(player.spawn)
                for one in (*spawn.verbs, *spawn.more_verbs)
            )
        )
        player.use = None
        if not is_here:
            self._broken(player, use)
            return
        # The verb's command may need the target, and the player may have chosen another meanwhile.
        player.set_target(spawn)
        self._finish(player, spawn, verb, now)
