"""The world service: what the shell calls. Players come in here, and their messages and time do.

Which message is handled by whom, and in which states it may come, is one table. A message that is
not in it is counted; one that comes out of order has no effect. Whatever a player sends, the others
are not harmed by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from emu.dialects.common import AVATAR_READY
from emu.errors import EmuError, PeerError
from emu.limits.unknown_messages import UnknownMessages, first_bytes
from emu.model import WorldCharacter
from emu.times import UNKNOWN, Monotonic
from emu.world.behaviors import Behaviors
from emu.world.chat import Chat
from emu.world.commands import RemoteCommands
from emu.world.events import NotHandled, PlayerRefused
from emu.world.knowledge import Knowledge
from emu.world.places import Atlas
from emu.world.players import burst, entering, leaving, moving, saving, using
from emu.world.players.client import PlayerLink, WorldClient
from emu.world.players.looks import spawn_looks
from emu.world.players.player import IN_ZONE, Player, PlayerState
from emu.world.players.text import ERROR_COLOR, send_text
from emu.world.spawns import Destination, Position, Spawn, SpawnKind
from emu.world.world import World
from emu.world.zone.directory import NoSuchZone

Handler = Callable[[World, Player, bytes, Monotonic], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One message: its handler, and the states in which it may come."""

    handler: Handler
    states: frozenset[PlayerState]


_ALIVE: Final = frozenset(PlayerState) - {PlayerState.GONE, PlayerState.LINK_DEAD}
_ENTERING: Final = _ALIVE - {PlayerState.ZONING}


def _signal(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    signal = player.client.dialect.layout("WS_Signal").decode(body)["signal"]
    if signal == AVATAR_READY:
        entering.avatar_ready(world, player, now)
    else:
        world.count("signal not known")


def _without_body(handler: Callable[[World, Player, Monotonic], None]) -> Handler:
    """Let bodies be: those of some messages are said to hold something and need not be read."""

    def handle(world: World, player: Player, _body: bytes, now: Monotonic) -> None:
        handler(world, player, now)

    return handle


def _stood(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    leaving.camp_aborted(world, player, body, now)
    moving.stood(world, player, body, now)


def _hotbar(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    player.hotbars.read(player.client.dialect, body)
    saving.changed(world, player, saving.Kept.HOTKEYS, now)


def _group_options(_world: World, player: Player, _body: bytes, _now: float) -> None:
    burst.send_group_options(player.client)


def _latest(_world: World, player: Player, _body: bytes, _now: float) -> None:
    player.client.send_bytes("OP_ClearDataMsg", b"\1")


MESSAGES: Final[dict[str, Rule]] = {
    "OP_DoneLoadingZoneResourcesMsg": Rule(_without_body(entering.zone_loaded), _ENTERING),
    "OP_DoneLoadingEntityResourcesMsg": Rule(_without_body(entering.entities_loaded), _ENTERING),
    "OP_DoneLoadingUIResourcesMsg": Rule(_without_body(entering.ui_loaded), _ENTERING),
    "OP_SignalMsg": Rule(_signal, _ENTERING),
    "OP_SysClient": Rule(_signal, _ENTERING),
    "OP_PredictionUpdateMsg": Rule(moving.predicted, _ALIVE),
    "OP_UpdateTargetMsg": Rule(moving.targeted, IN_ZONE),
    "OP_EntityVerbsRequestMsg": Rule(using.verbs_requested, IN_ZONE),
    "OP_EntityVerbsVerbMsg": Rule(using.verb_chosen, IN_ZONE),
    "OP_SitMsg": Rule(moving.sat, IN_ZONE),
    "OP_StandMsg": Rule(_stood, IN_ZONE),
    "OP_StoodMsg": Rule(_stood, IN_ZONE),
    "OP_RequestCampMsg": Rule(leaving.camp_requested, IN_ZONE),
    "OP_CampAbortedMsg": Rule(leaving.camp_aborted, IN_ZONE),
    "OP_ReadyToZoneMsg": Rule(leaving.ready_to_zone, _ALIVE | {PlayerState.GONE}),
    "OP_QuickbarUpdateMsg": Rule(_hotbar, _ENTERING),
    "OP_DefaultGroupOptionsRequestMsg": Rule(_group_options, _ENTERING),
    "OP_SendLatestRequestMsg": Rule(_latest, _ENTERING),
}


class WorldService:
    """Joins players' clients to the world."""

    def __init__(
        self, world: World, chat: Chat, commands: RemoteCommands, behaviors: Behaviors
    ) -> None:
        """Join world, chat, commands and behaviors."""
        self.world = world
        self._behaviors = behaviors
        self._messages = MESSAGES | {
            "OP_RemoteCmdMsg": Rule(commands.called, IN_ZONE),
            "OP_DialogSelectMsg": Rule(behaviors.select_message, IN_ZONE),
            "OP_DialogCloseMsg": Rule(behaviors.close_message, IN_ZONE),
        }
        world.give_commands = commands.send_table
        world.do_command = commands.do
        world.on_arrival.append(chat.enter_again)
        world.on_stand.append(self._go_on)
        world.on_left.append(chat.leave_all)
        self._unknown_messages = UnknownMessages()

    # -- clients --------------------------------------------------------------------------------

    def enter(
        self,
        character: WorldCharacter,
        client: WorldClient,
        now: Monotonic,
        *,
        key: int = 0,
    ) -> Player:
        """Let a client in that has shown its key; returns the player it plays now.

        A character that is in the world already is taken over: its earlier session is closed first.
        Raises `UnknownStruct` for a client whose version cannot be served, and `NoSuchZone`.
        """
        world = self.world
        player = world.players.get(character.id)
        if player is not None and player.state is PlayerState.ZONING:
            self._arrive(player, client, now, is_new=key != player.zone_key)
            return player
        if player is not None and player.client.version == client.version:
            self._take_over(player, client, now)
            return player
        if player is not None:
            leaving.leave(world, player, "another client plays this character", now)
        player = self._load(character, client, now)
        world.players.add(player)
        world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
        entering.begin(world, player, first=True)
        return player

    def message(self, player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        """Take one application message of the client that plays somebody.

        A client that floods is sent away: its predictions say what changed since the one before, so
        none of them could be left out.
        """
        world, client = self.world, player.client
        if not player.may_send(now, world.rules.message_rate, world.rules.message_burst):
            world.count("too many messages")
            leaving.leave(world, player, "its client sends too many messages", now)
            return
        name = client.dialect.table.name(opcode)
        rule = self._messages.get(name) if name else None
        if rule is None:
            self._not_handled(player, opcode, body)
            return
        if player.state not in rule.states:
            client.drop("message out of order")
            world.count("message out of order")
            return
        try:
            rule.handler(world, player, body, now)
        except PeerError as error:
            client.drop(error.reason)
            world.count(error.reason)
        except EmuError as error:
            self._refused(player, str(name), error)

    def _refused(self, player: Player, message: str, error: EmuError) -> None:
        """Count a message that could not be obeyed; one line in the log tells of its kind."""
        client, reason = player.client, f"{message} refused"
        client.drop(reason)
        self.world.count(reason)
        if client.drops[reason] == 1:
            text = f"{message}: {error}"
            self.world.report(PlayerRefused(player.name, client.address, text))

    def _not_handled(self, player: Player, opcode: int, body: bytes) -> None:
        client = player.client
        client.drop("unknown message")
        self.world.count("unknown message")
        whose = (player.character.account_id, client.version)
        if self._unknown_messages.is_new(whose, opcode):
            message = client.dialect.table.name(opcode) or ""
            self.world.report(
                NotHandled(
                    player.name, message, client.address, client.version, opcode, len(body),
                    first_bytes(body),
                )
            )  # fmt: skip

    def drained(self, player: Player, link: PlayerLink, now: Monotonic) -> None:
        """Show a player what its session had no room for; one that was taken over gets nothing."""
        if player.client.link is link and player.viewer is not None:
            player.zone.drained(player.viewer, now)

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Learn that a session is over; one that was taken over changes nothing."""
        if player.client.link is link:
            leaving.link_lost(self.world, player, reason, now)

    def send_away(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take somebody out of the world, with a client or without."""
        leaving.leave(self.world, player, reason, now)

    # -- time -----------------------------------------------------------------------------------

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called."""
        times = (
            self.world.deadlines.next(),
            self._behaviors.get_timer(),
            self.world.zones.get_timer(),
        )
        return min((due for due in times if due is not None), default=None)

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due: ticks of zones, and deadlines of players."""
        self._behaviors.handle_timer(now)
        self.world.zones.handle_timer(now)
        while (due := self.world.deadlines.pop_due(now)) is not None:
            self._deadline(*due, now)

    def close(self, now: Monotonic) -> None:
        """Send everybody away; all are saved."""
        for player in self.world.players:
            leaving.leave(self.world, player, "the world stops", now)

    def _deadline(self, player: Player, what: str, now: Monotonic) -> None:
        if what == leaving.CAMP:
            leaving.leave(self.world, player, "camped", now)
        elif what == saving.KEEP:
            saving.save(self.world, player)
        elif what == saving.SAVE:
            saving.save(self.world, player)
            self.world.set_deadline(player, what, self.world.rules.save_interval, now)
        elif what == leaving.LINK_DEAD:
            leaving.remove(self.world, player, "link-dead too long", now)
        elif what == leaving.ZONING:
            leaving.leave(self.world, player, "did not come back from zoning", now)

    # -- coming in ------------------------------------------------------------------------------

    def _load(self, character: WorldCharacter, client: WorldClient, now: Monotonic) -> Player:
        world = self.world
        is_new = character.last_played == UNKNOWN and character.id not in world.unsaved
        character = saving.latest(world, character)
        if is_new:
            character = beginner(world.knowledge, character)
        zone_id, place = at = home(world.zones.table, character)
        if not world.zone_servers.serves(zone_id):
            zone_id, place = self._served_here(character)
        zone = world.zones.with_room(zone_id, now, self._players_in)
        spawn = Spawn(
            world.next_spawn_id(),
            SpawnKind.PLAYER,
            character.name,
            place,
            level=character.level,
            looks=spawn_looks(character),
        )
        player = Player(character, spawn, zone, client, movement=world.rules.movement, now=now)
        if zone_id != at[0]:
            player.destination = Destination(*at)
        player.titles.show(spawn)
        if is_new:
            saving.changed(world, player, saving.Kept.TITLES, now)
            saving.changed(world, player, saving.Kept.HOTKEYS, now)
        return player

    def _served_here(self, character: WorldCharacter) -> tuple[int, Position]:
        """Return where somebody waits who is on the way to a zone that another process serves."""
        places = self.world.zones.table
        start = places.get(places.start_of(character).zone_id)
        for zone in (start, *places):
            if zone is not None and self.world.zone_servers.serves(zone.id):
                return zone.id, zone.safe
        raise NoSuchZone(character.zone_id)

    def _go_on(self, player: Player, now: Monotonic) -> None:
        """Send somebody on who came in at the wrong process."""
        if player.destination is not None:
            self.world.start(self._sent_on(player, player.destination, now))

    async def _sent_on(self, player: Player, to: Destination, now: Monotonic) -> None:
        try:
            await leaving.change_zone(self.world, player, to, now)
        except EmuError as error:
            send_text(player.client, f"You cannot be where you were: {error}", ERROR_COLOR)
            text = f"not sent on to its zone: {error}"
            self.world.report(PlayerRefused(player.name, player.client.address, text))

    def _take_over(self, player: Player, client: WorldClient, now: Monotonic) -> None:
        """Let a new session play a character that is still in the world."""
        world = self.world
        leaving.close_eyes(player, now)
        player.client.close()
        player.connect(client)
        world.deadlines.forget(player, (leaving.CAMP, leaving.LINK_DEAD))
        for word in ("linkdead", "camping"):
            player.spawn.set_word(word, on=False)
        player.pace.moved_by_server(now)
        entering.begin(world, player, first=True)

    def _arrive(self, player: Player, client: WorldClient, now: Monotonic, *, is_new: bool) -> None:
        """Let a player into the zone it was sent to; `is_new`: with a client from the login."""
        world = self.world
        assert player.destination is not None  # noqa: S101  # what zoning means
        zone_id, place = player.destination
        before = player.zone
        player.zone = world.zones.with_room(zone_id, now, self._players_in)
        world.zones.left(before, self._players_in(before), now)
        player.spawn.move(place or world.zones.definition(zone_id).safe)
        player.destination = None
        player.client.close()
        player.connect(client)
        player.pace.moved_by_server(now)
        world.deadlines.clear(player, leaving.ZONING)
        world.set_deadline(player, saving.SAVE, world.rules.save_interval, now)
        entering.begin(world, player, first=is_new)

    def _players_in(self, zone: object) -> int:
        return sum(1 for player in self.world.players if player.zone is zone)


def beginner(knowledge: Knowledge, character: WorldCharacter) -> WorldCharacter:
    """Return a character that was never played with what everybody begins with."""
    begins = knowledge.beginners
    return replace(
        character,
        titles=(*character.titles, *begins.titles(character)),
        hotkeys=character.hotkeys or tuple(begins.hotkeys(character)),
    )


def home(places: Atlas, character: WorldCharacter) -> tuple[int, Position]:
    """Return zone and place where a character comes in.

    One whose zone was taken out of the world begins anew. Raises `NoSuchZone` when there is not
    even that.
    """
    zone = places.get(character.zone_id)
    if zone is not None:
        return zone.id, Position(*character.place) if character.place else zone.safe
    start = places.start_of(character)
    zone = places.get(start.zone_id)
    if zone is None:
        raise NoSuchZone(character.zone_id)
    return zone.id, start.place or zone.safe
