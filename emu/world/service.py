"""The world service: what the shell calls. Players come in here, and their messages and time do.

Which message is handled by whom, and in which states it may come, is one table. A message that is
not in it is counted; one that comes out of order has no effect. Whatever a player sends, the others
are not harmed by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from emu.dialects.common import AVATAR_READY
from emu.errors import EmuError, PeerError
from emu.limits.unknown_messages import UnknownMessages, first_bytes
from emu.model import WorldCharacter
from emu.times import Monotonic
from emu.world.behaviors import Behaviors
from emu.world.chat import Chat
from emu.world.commands import RemoteCommands
from emu.world.events import NotHandled
from emu.world.players import arriving, burst, entering, leaving, moving, saving, using
from emu.world.players.client import PlayerLink, WorldClient
from emu.world.players.player import IN_ZONE, Player, PlayerState
from emu.world.world import World

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
        entering.avatar_ready(world, player, body, now)
    else:
        world.count("signal not known")


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
    "OP_DoneLoadingZoneResourcesMsg": Rule(entering.zone_loaded, _ENTERING),
    "OP_DoneLoadingEntityResourcesMsg": Rule(entering.entities_loaded, _ENTERING),
    "OP_DoneLoadingUIResourcesMsg": Rule(entering.ui_loaded, _ENTERING),
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
        world.on_stand.append(lambda player, now: arriving.go_on(world, player, now))
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
        """Let a client in that has shown its key; see `emu.world.players.arriving.enter`."""
        return arriving.enter(self.world, character, client, now, key=key)

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
        world = self.world
        if what in (saving.KEEP, saving.SAVE):
            saving.save(world, player)
            if what == saving.SAVE:
                world.set_deadline(player, what, world.rules.save_interval, now)
        elif what == leaving.LINK_DEAD:
            leaving.remove(world, player, "link-dead too long", now)
        else:
            why = "camped" if what == leaving.CAMP else "did not come back from zoning"
            leaving.leave(world, player, why, now)
