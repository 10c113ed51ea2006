"""The machinery that the behaviors and the scripts of one world share."""

from __future__ import annotations

from collections.abc import Callable

from emu.times import Monotonic
from emu.world.actors.spawn import Spawn
from emu.world.conversations import Conversations
from emu.world.deadlines import Timetable
from emu.world.events import Events
from emu.world.minds.errors import ScriptErrors
from emu.world.minds.harm import Harm
from emu.world.minds.hearing import Hearing
from emu.world.minds.moves import Moves
from emu.world.minds.nearness import Nearness
from emu.world.minds.timers import Timers
from emu.world.minds.views import Views
from emu.world.players import Players
from emu.world.reports import Faults
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone


class Minds:
    """The parts that move actors and let them talk and wait, whoever decides what they do."""

    def __init__(
        self,
        *,
        events: Events,
        faults: Faults,
        players: Players,
        timetable: Timetable,
        now: Callable[[], Monotonic],
        grounds: Grounds,
        chance: Callable[[], float],
        aggro_needs_view: Callable[[], bool],
        despawn: Callable[[Zone, Spawn], object],
    ) -> None:
        """Make the parts, which subscribe to the events of their world."""
        self.grounds = grounds
        """Heights, lines of sight, water and ways of running zones."""
        self.views = Views(grounds, aggro_needs_view)
        """Who sees whom."""
        self.conversations = Conversations(events=events)
        """The dialogs that players have open."""
        self.timers = Timers(events=events, timetable=timetable, now=now)
        self.nearness = Nearness(events=events, players=players, timetable=timetable, now=now)
        """Who is near spawns and places."""
        self.errors = ScriptErrors()
        """The errors of authors' code that were found last."""
        self.moves = Moves(
            events=events, timetable=timetable, now=now, grounds=grounds, chance=chance
        )
        """The walks of spawns, over the ground of their zones."""
        self.harm = Harm(
            events=events,
            players=players,
            moves=self.moves,
            timetable=timetable,
            now=now,
            despawn=despawn,
        )
        """Where spawns lose health and die."""
        self.hearing = Hearing(events=events, moves=self.moves, faults=faults)
        """Hails and lines."""
