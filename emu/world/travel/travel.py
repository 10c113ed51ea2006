"""`Travel`: what players use to get somewhere, in one world.

It hears of the content file's spawns as they appear, so it knows the doors, signs and transporters
among them. A use of one is an event (`Used`), or comes from a script.
Source: docs/guides/travel.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.content.standing import Standing
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.player import Player
from emu.world.actors.reach import distance_of
from emu.world.actors.spawn import TOO_FAR, Destination, Spawn
from emu.world.entry.leaving import Departures
from emu.world.events import Boarded, Doer, LeftZone, Order, Used, WidgetUsed
from emu.world.ledger.ledger import Ledger
from emu.world.messages import WorldMessages
from emu.world.speech.spoken import play_sound
from emu.world.travel.instances import Instances
from emu.world.travel.journeys import Journeys
from emu.world.travel.places import Places
from emu.world.travel.returning import Returning
from emu.world.travel.rides import Rides
from emu.world.travel.tables import TravelTables, destination_of
from emu.world.travel.transporters import Transporters
from emu.world.travel.waypoints import Waypoints
from emu.world.travel.widgets import Widget, WidgetForm, Widgets
from emu.world.visibility.fields import TRANSPORTS
from emu.world.world import World
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

HOUSING: Final = frozenset(("access", "visit"))
"""Commands of doors of players' homes, which lead to no transporter."""


@dataclass(frozen=True, slots=True)
class _Leads:
    """Where a spawn leads."""

    zone: Zone
    transport: int = 0
    """The list of its transporter."""
    sign: Destination | None = None
    distance: float = 0.0
    """How near the player of a sign must be; 0 for any distance."""


class Travel:
    """Doors, signs, transporters and places of one world."""

    def __init__(
        self,
        world: World,
        departures: Departures,
        ledger: Ledger,
        tables: TravelTables,
        roll: Callable[[int], int],
        *,
        grounds: Grounds,
        has_quest: Callable[[Player, int], bool],
    ) -> None:
        """`roll` returns a random number from 0 to one below its argument.

        `has_quest` returns whether a player has a quest, or has completed it.
        """
        self._world = world
        self._grounds = grounds
        self.journeys = Journeys(world, departures)
        self.transporters = Transporters(world, self.journeys, ledger, tables, has_quest)
        self.widgets = Widgets(world.timetable, self._play, self._opened)
        self.rides = Rides(world.clock.now, boarded=self._boarded, carried=self._carried)
        """Who stands on what moves."""
        world.events.subscribe(Used, self._used, Order.OWNER)
        world.events.subscribe(LeftZone, lambda event: self.rides.remove(event.player.spawn))
        self.returning = Returning(world, self.journeys, tables)
        self.instances = Instances(world, self.returning, roll)
        self.journeys.locked = self.instances.refusal
        self.flights = tables.flights
        """Where flight paths end."""
        self.places = Places(world, self.journeys, tables, self.returning.discovers)
        self.waypoints = Waypoints(world, grounds)
        self._leads: dict[int, _Leads] = {}
        """By the spawn's number of this run."""

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about ways to the table."""
        self.transporters.register(messages)
        self.waypoints.register(messages)

    def reload(self, tables: TravelTables) -> None:
        """Replace the tables of the content file."""
        self.flights = tables.flights
        self.transporters.tables = self.returning.tables = tables
        self.places.reload(tables, self._world.clock.now())

    # -- spawns of the content file -------------------------------------------------------------

    def appeared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Note a spawn that has appeared, if it leads somewhere or moves."""
        template = standing.template
        own = template.own
        if template.kind == "widgets":
            form = WidgetForm.of(own)
            if form.kind in ("door", "lift") or form.action:
                self.widgets.add_widget(zone, spawn, template.id, form)
            if form.is_lift:
                _show_place(spawn)
                self.rides.add_carrier(zone, spawn)
        # A script may have called it one before it was put into its zone.
        if spawn.icon in TRANSPORTS or self.rides.is_transport(spawn):
            self.rides.add_carrier(zone, spawn)
        sign = None
        if template.kind == "signs" and own["kind"] == "zone" and own["to_zone"]:
            sign = destination_of(own)
        transport = template.spawn.get("transport", 0)
        if sign is not None or transport:
            distance = own["distance"] if sign is not None else 0.0
            self._leads[spawn.id] = _Leads(zone, transport, sign, distance)

    def vanished(self, _zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that has left its zone."""
        self.widgets.remove(spawn)
        self.rides.remove(spawn)
        self._leads.pop(spawn.id, None)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self.widgets.forget(zone)
        self.rides.ended(zone)
        self._leads = {key: one for key, one in self._leads.items() if one.zone is not zone}
        self.places.ended(zone)
        self.instances.ended(zone)

    # -- use --------------------------------------------------------------------------------------

    def _used(self, event: Used) -> None:
        if self.use(event.player, event.target, event.verb.command, event.now):
            event.done_by.add(Doer.WAY)

    def use(self, player: Player, spawn: Spawn, command: str, now: Monotonic) -> bool:
        """Let a player use a spawn; return False if it is nothing that leads or moves.

        A transporter comes first, then a sign that leads to a zone, then a door or a lift.
        """
        leads = self._leads.get(spawn.id)
        transport = leads.transport if leads is not None else self.transporters.temporary(player)
        is_housing = command.casefold() in HOUSING
        if transport and not is_housing and self.transporters.offer(player, spawn, transport, now):
            return True
        if leads is not None and leads.sign is not None:
            self._follow(player, spawn, leads.sign, leads.distance, now)
            return True
        return self.use_widget(spawn, player, now)

    def use_widget(self, spawn: Spawn, player: Player | None, now: Monotonic) -> bool:
        """Use a door or a lift; return whether it is one. `player` is None for a script."""
        widget = self.widgets.of(spawn)
        if widget is None:
            return False
        used = WidgetUsed(player, zone=widget.zone, target=spawn, is_open=widget.is_open)
        self._world.events.publish(used)
        if used.answers:
            return True
        return self.widgets.use(spawn, now)

    def _follow(
        self, player: Player, spawn: Spawn, to: Destination, distance: float, now: Monotonic
    ) -> None:
        if distance and distance_of(spawn, player.position) > distance:
            send_text(player.client, TOO_FAR)
        else:
            self.journeys.send(player, to, now)

    def _boarded(self, zone: Zone, boat: Spawn, player: Spawn, is_on: bool) -> None:
        boarded = Boarded(zone=zone, transport=boat, rider=player, is_on=is_on)
        self._world.events.publish(boarded)

    def _carried(self, zone: Zone, spawn: Spawn, before: Position) -> None:
        """Let a player go on with what it does while it is carried."""
        for player in self._world.players.standing_in(zone):
            use = player.use
            if player.spawn is spawn and use is not None:
                at, began = spawn.position, use.began
                moved = began._replace(
                    x=began.x + at.x - before.x,
                    y=began.y + at.y - before.y,
                    z=began.z + at.z - before.z,
                )
                player.use = use._replace(began=moved)

    def _opened(self, widget: Widget) -> None:
        """Let an open door block no line of sight and no way, and a closed one block them."""
        footer = widget.spawn.footer
        if footer is not None and footer.id:
            ground = self._grounds.of(widget.zone)
            ground.set_passable(footer.id, is_passable=widget.is_open)

    def _play(self, widget: Widget, sound: str) -> None:
        """Play a sound at a widget to the players who are shown it."""
        players = self._world.players.standing_in(widget.zone)
        near = [player for player in players if player.index_of(widget.spawn) is not None]
        play_sound(near, sound, widget.spawn.position)


def _show_place(lift: Spawn) -> None:
    """Send clients the place of a lift whose row says not to: they would not see it move."""
    if lift.footer is not None and not lift.footer.with_place:
        lift.footer = lift.footer._replace(with_place=True)
        lift.move(lift.position)
