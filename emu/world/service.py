"""The world service: what the shell calls. Players come in here, and their messages and time do.

Which message is handled by whom, and in which states it may come, is one table. A message that is
not in it is counted; one that comes out of order has no effect. Whatever a player sends, the others
are not harmed by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.dialects.dialect import AVATAR_READY
from emu.errors import EmuError, PeerError
from emu.limits.repeats import UnknownMessages, first_bytes
from emu.model import WorldCharacter
from emu.processes.ports import Note
from emu.times import Monotonic
from emu.world.actors import interaction, moving
from emu.world.actors.client import PlayerClient, PlayerLink
from emu.world.actors.player import IN_ZONE, Player, PlayerState
from emu.world.behaviors import Behaviors
from emu.world.commands import RemoteCommands
from emu.world.entry import entering, initial_messages, leaving, saving, standing
from emu.world.events import NotHandled
from emu.world.social.chat import Chat
from emu.world.world import World

Handler = Callable[[World, Player, bytes, Monotonic], None]


@dataclass(frozen=True, slots=True)
class WorldMessageRule:
    """One message: its handler, and the states in which it may come."""

    handler: Handler
    states: frozenset[PlayerState]


_ALIVE: Final = frozenset(PlayerState) - {PlayerState.GONE, PlayerState.LINK_DEAD}
_ENTERING: Final = _ALIVE - {PlayerState.ZONING}


def _signal(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    signal = player.client.dialect.layout("WS_Signal").decode(body)["signal"]
    if signal == AVATAR_READY:
        entering.avatar_ready(world, player, body, now)
    else:
        world.count("signal not known")


def _stood(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    leaving.camp_aborted(world, player, body, now)
    moving.stood(world, player, body, now)


def _hotbar(world: World, player: Player, body: bytes, now: Monotonic) -> None:
    player.hotbars.read(player.client.dialect, body)
    saving.changed(world, player, saving.SavedKind.HOTKEYS, now)


def _group_options(_world: World, player: Player, _body: bytes, _now: float) -> None:
    initial_messages.send_group_options(player.client)


def _latest(_world: World, player: Player, _body: bytes, _now: float) -> None:
    player.client.send_bytes("OP_ClearDataMsg", b"\1")


MESSAGES: Final[dict[str, WorldMessageRule]] = {
    "OP_DoneLoadingZoneResourcesMsg": WorldMessageRule(entering.zone_loaded, _ENTERING),
    "OP_DoneLoadingEntityResourcesMsg": WorldMessageRule(entering.entities_loaded, _ENTERING),
    "OP_DoneLoadingUIResourcesMsg": WorldMessageRule(entering.ui_loaded, _ENTERING),
    "OP_SignalMsg": WorldMessageRule(_signal, _ENTERING),
    "OP_SysClient": WorldMessageRule(_signal, _ENTERING),
    "OP_PredictionUpdateMsg": WorldMessageRule(moving.predicted, _ALIVE),
    "OP_UpdateTargetMsg": WorldMessageRule(moving.targeted, IN_ZONE),
    "OP_EntityVerbsRequestMsg": WorldMessageRule(interaction.verbs_requested, IN_ZONE),
    "OP_EntityVerbsVerbMsg": WorldMessageRule(interaction.verb_chosen, IN_ZONE),
    "OP_SitMsg": WorldMessageRule(moving.sat, IN_ZONE),
    "OP_StandMsg": WorldMessageRule(_stood, IN_ZONE),
    "OP_StoodMsg": WorldMessageRule(_stood, IN_ZONE),
    "OP_RequestCampMsg": WorldMessageRule(leaving.camp_requested, IN_ZONE),
    "OP_CampAbortedMsg": WorldMessageRule(leaving.camp_aborted, IN_ZONE),
    "OP_ReadyToZoneMsg": WorldMessageRule(leaving.ready_to_zone, _ALIVE | {PlayerState.GONE}),
    "OP_QuickbarUpdateMsg": WorldMessageRule(_hotbar, _ENTERING),
    "OP_DefaultGroupOptionsRequestMsg": WorldMessageRule(_group_options, _ENTERING),
    "OP_SendLatestRequestMsg": WorldMessageRule(_latest, _ENTERING),
}


GIVE_UP: Final = "world.give_up"
"""Topic of the question, with the name of the asked process behind it: ``char_id`` is to leave."""


class WorldService:
    """Joins players' clients to the world."""

    def __init__(
        self,
        world: World,
        chat: Chat,
        commands: RemoteCommands,
        behaviors: Behaviors,
    ) -> None:
        """Join world, chat, commands and behaviors."""
        self.world = world
        self._behaviors = behaviors
        self._messages = MESSAGES | {
            "OP_RemoteCmdMsg": WorldMessageRule(commands.called, IN_ZONE),
            "OP_DialogSelectMsg": WorldMessageRule(behaviors.select_message, IN_ZONE),
            "OP_DialogCloseMsg": WorldMessageRule(behaviors.close_message, IN_ZONE),
        }
        notifications = world.notifications
        world.give_commands = commands.send_table
        world.do_command = commands.do
        notifications.arrived.subscribe(chat.enter_again)
        notifications.standing.subscribe(lambda player, _now: entering.go_on(world, player))
        notifications.left.subscribe(chat.leave_all)
        notifications.hidden_changed.subscribe(chat.hidden_changed)
        standing.subscribe(world)
        self._unknown_messages = UnknownMessages()
        world.bus.answer(f"{GIVE_UP}.{world.process}", self._give_up)

    # -- clients --------------------------------------------------------------------------------

    async def fetch(self, char_id: int) -> None:
        """Have another process give up a character, stored, that is to come in here.

        One that cannot be reached, or cannot store it, has it as it was stored last.
        """
        world = self.world
        present = world.presence.find(char_id)
        if present is None or present.process == world.process:
            return
        try:
            await world.bus.request(f"{GIVE_UP}.{present.process}", {"char_id": char_id})
        except EmuError as error:
            world.count(f"not given up by another process: {error}")

    async def _give_up(self, note: Note) -> Note:
        player = self.world.players.get(int(note["char_id"] or 0))
        if player is not None:
            await leaving.give_up(self.world, player)
        return {}

    def enter(
        self,
        character: WorldCharacter,
        client: PlayerClient,
        now: Monotonic,
        *,
        key: int = 0,
        hidden: bool = False,
    ) -> Player:
        """Let a client in that has shown its key; see `emu.world.entry.entering.enter`."""
        return entering.enter(self.world, character, client, now, key=key, hidden=hidden)

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
            self.world.refused(player, text)

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
        if player.client.link is not link:
            return
        player.client.has_room()
        if player.viewer is not None:
            player.zone.drained(player.viewer, now)

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Learn that a session is over; one that was taken over changes nothing."""
        if player.client.link is not link:
            return
        world = self.world
        if not world.faults.attempt(
            "losing a link", player, leaving.link_lost, world, player, reason, now
        ):
            leaving.remove(world, player, reason, now)

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
        """Do what is due: ticks of zones, and deadlines of players.

        A mistake with one of them is reported and does not stop the others.
        """
        world = self.world
        world.faults.attempt("the timer of the behaviors", None, self._behaviors.handle_timer, now)
        world.faults.attempt("the timer of the zones", None, world.zones.handle_timer, now)
        while (due := world.deadlines.pop_due(now)) is not None:
            player, what = due
            world.faults.attempt(f"a player's deadline ({what})", player, self._deadline, *due, now)

    def close(self, now: Monotonic) -> None:
        """Send everybody away; all are saved."""
        for player in self.world.players:
            leaving.leave(self.world, player, "the world stops", now)

    def _deadline(self, player: Player, what: str, now: Monotonic) -> None:
        world = self.world
        if what in (saving.KEEP, saving.SAVE):
            if what == saving.SAVE:  # before saving, which may fail: the next time is tried again
                world.set_deadline(player, what, world.rules.save_interval, now)
            leaving.save_surely(world, player)
        elif what == leaving.LINK_DEAD:
            leaving.remove(world, player, "link-dead too long", now)
        else:
            why = "camped" if what == leaving.CAMP else "did not come back from zoning"
            leaving.leave(world, player, why, now)
