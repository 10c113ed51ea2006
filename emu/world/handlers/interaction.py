"""Handlers of what players do in their zone: they move, sit, target a spawn and use its verbs.

Clients up to 561 ask for the verbs of a spawn at the second mouse button. A click or the choice of
a verb sends the verb's own text; newer clients send the command, and some send only the spawn,
which means the first verb. Ways (doors, signs, bells) take the player elsewhere.
Source: docs/protocol/world/spawns.md#verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from emu.dialects.dialect import NO_TARGET
from emu.errors import MalformedMessage
from emu.times import Monotonic
from emu.world.actors.client import send_text
from emu.world.actors.movement import CARRIED, MovementStep, StepRefusal
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.reach import distance_of
from emu.world.actors.spawn import SITTING, STANDING, TOO_FAR, Destination, Spawn, SpawnKind, Verb
from emu.world.events import Doer, GridChanged, MayUse, Order, Targeted, Used, VerbChosen
from emu.world.handlers.uses import VerbUses
from emu.world.messages import CONNECTED, WorldMessages
from emu.world.spells.living import HELD
from emu.world.world import World
from emu.world.zones.ground import Grounds
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

PUT_BACK_PAUSE: Final = 2.0
"""Seconds between two corrections of one client: it needs time to obey."""
MOST_VERBS: Final = 0xFF
NOTHING: Final = "Nothing happens."
"""EQ2Emulator says nothing in this case (recorded), so that a player clicks again."""
NOT_SERVED: Final = {
    "frombroker": "This server has no broker.",
    "guildbank": "This server has no banks of guilds.",
    "lotto": "This server has no lottery.",
    "research": "This server has no research of spells.",
}
"""What a player reads about verbs that EQ2Emulator's server does itself, and this one does not."""
OF_THINGS: Final = frozenset(("read",))
"""Commands about a thing that the player carries; as the verb of a sign the word shows its text."""
SPAWN_ONLY: Final = 4
"""Bytes of a message that names a spawn and no verb."""


class Carriers(Protocol):
    """Knows who stands on what moves; `emu.world.travel.rides` does."""

    def has_any(self, zone: Zone) -> bool:
        """Return whether a zone has transports."""

    def place_on(self, carrier: Spawn | None, offset: Position) -> Position | None:
        """Return the place of a player whose client counts from a transport; None: from no such."""

    def measured_from(self, spawn: Spawn, to: Position) -> Position:
        """Return the place from which a player's step is measured."""

    def stepped(self, zone: Zone, spawn: Spawn, carrier: Spawn | None = None) -> None:
        """Note the place to which a player has stepped, and where its client says it stands."""


class MovementRequests:
    """Handles the messages about a player's place, posture and target."""

    def __init__(
        self,
        world: World,
        stop_camp: Callable[[Player], None],
        *,
        moved: Sequence[Callable[[Player], None]],
        carriers: Carriers,
        way_back: Callable[[Player], Destination],
        grounds: Grounds,
    ) -> None:
        """`stop_camp` stops the camp timer of a player that stands up; `moved` hear of steps.

        `carriers` are the lifts and boats that carry players. `way_back` returns where a player
        goes that is lost in its zone; a place far under all of its map is one, too.
        """
        self._grounds = grounds
        self._way_back = way_back
        self._carriers = carriers
        self._world = world
        self._stop_camp = stop_camp
        self.moved = moved

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about movement to the table."""
        messages.add_handler("OP_PredictionUpdateMsg", self._prediction, CONNECTED)
        messages.add_handler("OP_UpdatePositionMsg", self._predicted, CONNECTED)
        messages.add_handler("OP_UpdateTargetMsg", self._targeted, IN_ZONE)
        messages.add_handler("OP_SitMsg", self._sat, IN_ZONE)
        messages.add_handler("OP_StandMsg", self._stood, IN_ZONE)
        messages.add_handler("OP_StoodMsg", self._stood, IN_ZONE)

    def _prediction(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Apply a step of an older client; others say their place by UpdatePosition.

        They are answered with an empty message, as EQ2Emulator does.
        """
        if player.client.dialect.table.get("OP_UpdatePositionMsg") is None:
            self._predicted(player, body, now)
        else:
            player.client.send_bytes("OP_PredictionUpdateMsg")

    def _predicted(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Apply a step, or put the player back. Raises `MalformedMessage`."""
        world = self._world
        # Read in every state: each message is the base of the next one's delta.
        step = player.session.predictions.read_step(body)
        if step is None:
            world.count("step repeated")
            return
        if player.state not in IN_ZONE:
            world.count("step out of order")
            return
        carriers, carrier, here = self._carriers, None, player.spawn.position
        grid = here.grid
        if carriers.has_any(player.zone):
            step, carrier = _on_carrier(carriers, player, step)
            here = carriers.measured_from(player.spawn, step.position)
        refusal = player.pace.refusal(step, here, now, is_held=_is_held(player))
        if refusal is not None:
            world.count(refusal)
            self._put_back(player, refusal, now)
            return
        player.spawn.is_led_by_client = True
        player.spawn.move(
            step.position,
            speed=step.speed,
            side_speed=step.side_speed,
            vert_speed=step.vert_speed,
            pitch=step.pitch,
            activity=step.activity,
        )
        carriers.stepped(player.zone, player.spawn, carrier)
        for moved in self.moved:
            moved(player)
        if step.position.grid != grid:
            world.events.publish(GridChanged(player, grid, step.position.grid))
        zone = player.zone.definition
        # The client has fallen through the ground. Nobody could reach or help the player there.
        if step.position.y < zone.underworld or self._grounds.is_below(
            player.zone, step.position.y
        ):
            way_back = self._way_back(player)
            is_here = way_back.zone_id == zone.id
            player.teleport(way_back.position or zone.safe if is_here else zone.safe, now)

    def _put_back(self, player: Player, refusal: StepRefusal, now: Monotonic) -> None:
        # Steps that were sent before the client obeyed are refused, too; correcting each would make
        # it jump for seconds.
        if now - player.pace.corrected < PUT_BACK_PAUSE:
            return
        player.pace.corrected = now
        player.send_place(player.position)
        # Once for each player: a cheating client would otherwise write the log at its own rate.
        if player.pace.refused == 1:
            self._world.refused(player, refusal)

    def _sat(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        if player.spawn.hp_percent > 0:
            player.spawn.set_info(visual_state=SITTING)

    def _stood(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self._stop_camp(player)
        # A body lies until its player lives again.
        if player.spawn.hp_percent > 0:
            player.spawn.set_info(visual_state=STANDING)

    def _targeted(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Set the player's target; an index that the client was never shown is no target."""
        # Later clients have one more byte, which EQ2Emulator does not read either.
        fields, _ = player.client.dialect.layout("WS_UpdateTarget").decode_prefix(body)
        index = fields["spawn_index"]
        viewer = player.viewer
        player.set_target(viewer.interest.spawn_at(index) if viewer is not None else None)
        if player.target is not None:
            self._world.events.publish(Targeted(player, player.target))
        elif index != NO_TARGET:
            self._world.count("target unknown")


def _is_held(player: Player) -> bool:
    """Return whether a player can walk nowhere: it is dead, or a spell holds it."""
    spawn = player.spawn
    return spawn.hp_percent <= 0 or not HELD.isdisjoint(spawn.sheet.spells.controls)


def _on_carrier(
    carriers: Carriers, player: Player, step: MovementStep
) -> tuple[MovementStep, Spawn | None]:
    """Return a step with its place in the zone, and the transport from which the client counts."""
    if not step.activity & CARRIED or player.viewer is None:
        return step, None
    carrier = player.viewer.interest.spawn_at(step.position.grid)
    place = carriers.place_on(carrier, step.position)
    # Without such a transport the place is read as any other, and believed if it is near.
    if place is None:
        return step, None
    return step._replace(position=place, activity=step.activity & ~CARRIED), carrier


class CommandRunner(Protocol):
    """Runs commands for players; `emu.world.commands.RemoteCommands` does."""

    def do(self, player: Player, line: str, now: Monotonic) -> bool:
        """Run a command by its name; return False if there is none that this player may use."""


class Interaction:
    """Handles the messages about verbs of spawns."""

    def __init__(
        self,
        world: World,
        send: Callable[[Player, Destination, Monotonic], object],
        commands: CommandRunner,
    ) -> None:
        """Subscribe to the uses of verbs. `send` takes a player to a place, if it may go there."""
        world.events.subscribe(VerbChosen, self._begin, Order.OWNER)
        world.events.subscribe(Used, self._run_command)
        self._world = world
        self._send = send
        self._commands = commands
        self.uses = VerbUses(world, self._do)

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about verbs to the table."""
        messages.add_handler("OP_EntityVerbsRequestMsg", self._verbs_requested, IN_ZONE)
        messages.add_handler("OP_EntityVerbsVerbMsg", self._verb_chosen, IN_ZONE)

    def _verbs_requested(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Send a client the verbs of a spawn. Raises `MalformedMessage`."""
        index = player.client.dialect.layout("WS_EntityVerbsRequest").decode(body)["spawn_id"]
        spawn = self._spawn_at(player, index)
        if spawn is None:
            return
        verbs = [
            {"command": verb.command, "distance": verb.distance, "display_text": verb.name}
            | ({"display_error": 1, "error": verb.error} if verb.error else {})
            # The count is one byte.
            for verb in [one for one in shown_verbs(spawn) if one.is_for(player.spawn)][:MOST_VERBS]
        ]
        if not verbs:
            return  # recorded: what offers nothing is not answered
        player.client.send(
            "WS_EntityVerbsResponse",
            {"spawn_id": index, "num_verbs": len(verbs), "verbs_array": verbs},
        )

    def _verb_chosen(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Do what a verb stands for. Raises `MalformedMessage`."""
        index, text = _chosen(player, body)
        # An index may belong to a spawn that has just vanished.
        spawn = self._spawn_at(player, index)
        if spawn is None:
            return
        verb = _verb(spawn, text)
        if verb is None or not verb.is_for(player.spawn):
            self._world.count("verb unknown")
        elif verb.distance and distance_of(spawn, player.position) > verb.distance:
            # Clients check this, too, but the server must not trust them. A distance of 0 means
            # everywhere.
            send_text(player.client, verb.error or TOO_FAR)
        else:
            # The verb's command may need the target.
            player.set_target(spawn)
            self._world.events.publish(VerbChosen(player, spawn, verb, now))

    def _begin(self, event: VerbChosen) -> None:
        """Begin what a verb of a spawn stands for, at any distance, unless a listener refuses."""
        player, spawn, verb = event.player, event.target, event.verb
        asked = MayUse(player, spawn, verb)
        self._world.events.publish(asked)
        if asked.refusals:
            self._world.count(f"verb refused by {asked.refusals[0]}")
        else:
            self.uses.begin(player, spawn, verb, event.now)

    def _run_command(self, event: Used) -> None:
        command = event.verb.command
        # Verbs of a content file are words: "inspect" a chest, "unlock the grate and enter".
        is_command = (
            Doer.WAY not in event.done_by and event.verb.is_command and command not in OF_THINGS
        )
        if is_command and self._commands.do(event.player, command, event.now):
            event.done_by.add(Doer.COMMAND)

    def _do(self, player: Player, spawn: Spawn, verb: Verb, now: Monotonic) -> None:
        """Do what a verb stands for: first what leads somewhere, then its command and scripts."""
        used = Used(player, spawn, verb, now)
        self._world.events.publish(used)
        # A command wins over the spawn's way or text, so zone files can give any verb to any spawn.
        if used.done_by & {Doer.WAY, Doer.COMMAND}:
            return
        if spawn.destination is not None:
            self._send(player, spawn.destination, now)
        elif used.done_by:
            return
        elif spawn.kind is SpawnKind.SIGN and spawn.footer is not None and spawn.footer.description:
            send_text(player.client, spawn.footer.description)
        else:
            self._world.count("verb does nothing")
            send_text(player.client, NOT_SERVED.get(verb.command.casefold(), NOTHING))

    def _spawn_at(self, player: Player, index: int) -> Spawn | None:
        """Return the spawn that a client knows by an index; count an unknown index."""
        # The field has 32 bits in this message, but indexes have only 16.
        if index > 0xFFFF:
            raise MalformedMessage("index of a spawn out of range")
        spawn = player.viewer.interest.spawn_at(index) if player.viewer is not None else None
        if spawn is None:
            self._world.count("spawn unknown")
        return spawn


def _chosen(player: Player, body: bytes) -> tuple[int, str]:
    """Return the index of a spawn and the text of a verb, empty for the first verb."""
    if len(body) == SPAWN_ONLY:
        return int.from_bytes(body, "little"), ""
    fields = player.client.dialect.layout("WS_EntityVerbsVerb").decode(body)
    return fields["spawn_id"], str(fields["command"])


def shown_verbs(spawn: Spawn) -> list[Verb]:
    """Return the verbs of a spawn's menu, each once: its usual ones, then the others."""
    found = {
        (_plain(verb.name), _plain(verb.command)): verb
        for verb in reversed((*spawn.verbs, *spawn.more_verbs))
        if verb.name
    }
    return list(reversed(found.values()))


def _verb(spawn: Spawn, text: str) -> Verb | None:
    """Return the verb whose name or command a client has sent, None if there is none."""
    if not text:
        # A message with four bytes names no verb (docs/protocol/world/spawns.md#verbs).
        return spawn.verbs[0] if spawn.verbs else None
    wanted = _plain(text)
    for verb in (*spawn.verbs, *spawn.more_verbs):
        if wanted in (_plain(verb.name), _plain(verb.command)):
            return verb
    return None


def _plain(text: str) -> str:
    # Old clients send the shown text "Buy From Merchant", newer ones the command
    # "buy_from_merchant".
    return text.strip().casefold().replace(" ", "_")
