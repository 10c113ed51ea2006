"""The ways in which a player leaves: camp, quit, link death, zone change, kick.

A player that leaves is saved first. A player whose client is gone without a message stays in the
world for a while, marked as link-dead (docs/protocol/world/leaving.md#link-death).

Leaving consists of steps. Each step runs even if an earlier one has raised, because a player that
is half gone could neither enter again nor be removed. At the end `_purge` removes what a failed
step has left.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final

from emu.errors import CommandError, StoreError
from emu.gather import both
from emu.mailbox import start
from emu.model import EntryOrigin, Present, SavedKind
from emu.times import Monotonic
from emu.world.actors.client import PlayerClient, send_text
from emu.world.actors.player import IN_ZONE, Player, PlayerDeadline, PlayerState
from emu.world.actors.spawn import Destination, StateWord
from emu.world.events import LeftWorld, LeftZone, StatusChanged
from emu.world.item_events import WindowsGone
from emu.world.login_events import LoggedOut
from emu.world.messages import CONNECTED, WorldMessages
from emu.world.reports import PlayerLeft
from emu.world.world import World
from emu.world.zones.zone import Zone

ZONING_TIME: Final = 60.0
"""Seconds for a client to connect again: as long as its key works."""
SAVE_TIME: Final = 2.0
"""Seconds that the session of a player who leaves stays open for the save."""
LONGEST_CAMP: Final = 255
NO_NEXT_CHARACTER: Final = " "
"""The name that stands for none, of the character that a client plays after it camped."""


class LeaveReason(enum.StrEnum):
    """Why the server takes a player out of the world, as logs show it.

    Other reasons are texts: an operator's, or that of a session that has ended.
    """

    QUIT = "quit"
    CAMPED = "camped"
    LINK_DEAD = "link-dead too long"
    NOT_BACK = "did not come back from zoning"
    NOT_ZONING = "ready to zone without reason"
    FLOOD = "its client sends too many messages"
    ELSEWHERE = "its player comes in at another process"
    OTHER_CLIENT = "another client plays this character"
    NOT_ENTERED = "it could not come in"
    KEPT_OUT = "its account or address is banned or disabled"
    BANNED = "it is banned"
    DELETED = "its character is deleted"
    STOPPING = "the world stops"
    DRAINED = "its node is drained"
    CLOSED_BY_SERVER = "ended by the server"
    SENT_AWAY = "sent away"


class Departures:
    """Takes players out of their zone or out of the world."""

    def __init__(self, world: World, address: Callable[[], tuple[str, int]]) -> None:
        """`address` returns the host and port at which clients reach this process."""
        self._world = world
        self.address = address
        self._on_their_way: dict[int, Player] = {}
        """The players who have gone to other nodes, and whom no node has let in yet."""
        self._ways = world.timetable.deadlines("players on their way to a node", self._is_nowhere)
        world.processes.presence.observe(self._is_seen)
        on = world.players.deadlines.on
        on(PlayerDeadline.CAMP, self._has_camped)
        on(PlayerDeadline.LINK_DEAD, self._stays_away)
        on(PlayerDeadline.ZONING, self._is_not_back)
        on(PlayerDeadline.CLOSING, lambda player, _now: player.client.close())

    def register(self, messages: WorldMessages) -> None:
        """Add the messages about leaving to the table."""
        messages.add_handler("OP_RequestCampMsg", self._camp_requested, IN_ZONE)
        messages.add_handler("OP_CampAbortedMsg", self._camp_aborted, IN_ZONE)
        messages.add_handler(
            "OP_ReadyToZoneMsg", self._ready_to_zone, CONNECTED | {PlayerState.GONE}
        )

    # -- camp -----------------------------------------------------------------------------------

    def _camp_requested(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Start the camp timer; a client that quits to the desktop leaves at once."""
        world = self._world
        fields = player.client.dialect.layout("WS_RequestCamp").decode_short(body)
        # A second request must not start the timer again.
        if world.players.deadlines.get(player, PlayerDeadline.CAMP) is not None:
            return
        # A client that quits to the desktop does not wait for the camp timer, so nobody would stop
        # it.
        if fields["quit"] and fields["camp_desktop"]:
            self.leave_saved(player, LeaveReason.QUIT, now)
            return
        rules = world.rules.in_zone(player.zone.zone_id)
        is_master = player.character.admin_status >= rules.game_master
        seconds = rules.camp_game_master if is_master else rules.camp
        player.client.send(
            "WS_Camp",
            {
                "seconds": min(LONGEST_CAMP, round(seconds)),
                "camp_desktop": fields["camp_desktop"],
                "camp_char_select": int(_goes_to_characters(fields)),
                "char_name": fields.get("char_name") or NO_NEXT_CHARACTER,
                "world_name": fields.get("world_name", ""),
                "camp_login": fields.get("camp_login", 0),
            },
        )
        player.spawn.set_word(StateWord.CAMPING, on=True)
        world.players.deadlines.set(player, PlayerDeadline.CAMP, Monotonic(now + seconds))

    def _camp_aborted(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        self.stop_camp(player)

    def stop_camp(self, player: Player) -> None:
        """Stop the camp timer, if it runs: the player stands up or cancels."""
        # Only a timer that was running is stopped, so that the client gets no message for nothing.
        if self._world.players.deadlines.clear(player, PlayerDeadline.CAMP):
            player.spawn.set_word(StateWord.CAMPING, on=False)
            player.client.send_bytes("OP_CampAbortedMsg")

    def _has_camped(self, player: Player, now: Monotonic) -> None:
        self.leave_saved(player, LeaveReason.CAMPED, now)

    def _stays_away(self, player: Player, now: Monotonic) -> None:
        self.remove(player, LeaveReason.LINK_DEAD, now)

    def _is_not_back(self, player: Player, now: Monotonic) -> None:
        self.leave(player, LeaveReason.NOT_BACK, now)

    # -- link death -----------------------------------------------------------------------------

    def link_lost(self, player: Player, reason: str, now: Monotonic) -> None:
        """Make a player link-dead, or remove it if it does not stand in a zone yet."""
        world = self._world
        if player.state is PlayerState.GONE:
            world.players.deadlines.forget(player, PlayerDeadline)
            return
        # A client that changes its zone closes its session on purpose.
        if player.state in (PlayerState.LINK_DEAD, PlayerState.ZONING):
            return
        # It has no body that others see, so there is nothing to leave standing.
        if player.state not in IN_ZONE:
            self.remove(player, reason, now)
            return
        attempt = world.faults.attempt
        # Without this deadline a link-dead player would stay for ever.
        until = Monotonic(now + world.rules.in_zone(player.zone.zone_id).link_dead)
        if not attempt(
            "setting the time of link death", player,
            world.players.deadlines.set, player, PlayerDeadline.LINK_DEAD, until,
        ):  # fmt: skip
            self.remove(player, reason, now)
            return
        player.state = PlayerState.LINK_DEAD
        attempt("closing a player's view", player, player.close_view, now)
        world.players.deadlines.clear(player, PlayerDeadline.CAMP)
        attempt("showing link death", player, _show_link_dead, player)
        world.events.publish(WindowsGone(player))
        world.saves.save_or_report(player)
        attempt("publishing link death", player, world.processes.presence.lost_link, player.id)
        world.events.publish(StatusChanged())
        attempt("reporting", player, self._report, player, f"link-dead: {reason}")

    # -- out of the world -----------------------------------------------------------------------

    def leave(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world and close its session."""
        client = player.client
        self.remove(player, reason, now)
        self._world.faults.attempt("closing a session", player, client.close)

    def leave_saved(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world at once, and close its session when it is stored.

        The end of the session confirms to its client that it has left. So a crash afterwards loses
        nothing. A store that does not answer delays the end by `SAVE_TIME` at most.
        """
        if player.state is PlayerState.GONE:
            return
        world, client = self._world, player.client
        self.remove(player, reason, now)
        # Set before the save is awaited, so that the session is closed in every case.
        closing = Monotonic(now + SAVE_TIME)
        world.players.deadlines.set(player, PlayerDeadline.CLOSING, closing)
        attempt = world.faults.attempt
        work = self._close_when_stored(player, client)
        attempt("waiting for a save", player, start, world.start, work)

    async def _close_when_stored(self, player: Player, client: PlayerClient) -> None:
        try:
            await self._world.saves.stored(player)
        except StoreError:
            return  # reported by the saver, which tries again; the deadline closes the session
        self._world.players.deadlines.clear(player, PlayerDeadline.CLOSING)
        client.close()

    def remove(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world; the caller closes its session."""
        if player.state is PlayerState.GONE:
            return
        if player.past.lasts_now is not None and player.past.lasts_now():
            # What is left of its spells changes with each second.
            player.unsaved.kinds.add(SavedKind.PAST)
            player.past.stand_still()
        # Saved before anything is taken apart, while its zone and place are certain.
        self._world.saves.save_or_report(player)
        self._take_out(player, reason, now)

    def lose(self, player: Player, now: Monotonic) -> None:
        """Take out a player whose character another process plays; nothing of it is saved."""
        if player.state is PlayerState.GONE:
            return
        client = player.client
        player.journey.is_elsewhere = True
        self._take_out(player, LeaveReason.ELSEWHERE, now)
        self._world.faults.attempt("closing a session", player, client.close)

    def _take_out(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take out a player that is saved."""
        world, zone = self._world, player.zone
        attempt = world.faults.attempt
        # First of all: whatever a later step calls, the player cannot be taken out twice.
        player.state = PlayerState.GONE
        changes = world.groups
        if reason in (LeaveReason.CAMPED, LeaveReason.QUIT):
            attempt("keeping a place in a group", player, changes.away, player.id)
        attempt("closing a player's view", player, player.close_view, now)
        attempt("taking a spawn out of its zone", player, zone.remove, player.spawn, now)
        attempt(
            "forgetting deadlines", player, world.players.deadlines.forget, player, PlayerDeadline
        )
        attempt("taking a player out of the list", player, world.players.remove, player)
        attempt("counting who is left in a zone", player, world.left_zone, zone, now)
        # After the spawn has left its zone, so that a listener which looks for it finds nothing.
        world.events.publish_twice(WindowsGone(player))
        world.events.publish_twice(LeftZone(player))
        attempt("looking who has logged out", player, self._log_out, player, now)
        world.events.publish_twice(LeftWorld(player))
        attempt("publishing a departure", player, world.processes.presence.left, player.id)
        self._purge(player, zone)
        world.events.publish(StatusChanged())
        attempt("reporting", player, self._report, player, reason)

    def _log_out(self, player: Player, now: Monotonic) -> None:
        """Say that a player has logged out, unless it is on another node or on its way there."""
        processes = self._world.processes
        found = processes.presence.find(player.id)
        if found is not None and found.process != processes.name:
            return
        if player.journey.is_elsewhere:
            self._on_their_way[player.id] = player
            self._ways.set(player.id, "", Monotonic(now + ZONING_TIME))
        else:
            self._world.events.publish(LoggedOut(player))

    def _is_seen(self, char_id: int, present: Present | None) -> None:
        """Note that a node has let in a player who was on its way."""
        if present is not None and self._on_their_way.pop(char_id, None) is not None:
            self._ways.clear(char_id, "")

    def _is_nowhere(self, char_id: int, _name: str, _now: Monotonic) -> None:
        """Say that a player has left the world which no node has let in."""
        player = self._on_their_way.pop(char_id)
        if self._world.processes.presence.find(char_id) is None:
            self._world.events.publish(LoggedOut(player))

    def _purge(self, player: Player, zone: Zone) -> None:
        """Remove what a step that raised has left, without notifying anything."""
        world = self._world
        attempt = world.faults.attempt
        player.viewer = None
        world.players.discard(player)
        if zone.holds(player.spawn):
            attempt("purging a spawn", player, zone.purge, player.spawn)
        changes = world.groups
        if not player.journey.is_elsewhere and not changes.is_away(player.id):
            attempt("purging a group", player, changes.purge, player.id)
        attempt("purging the presence", player, world.processes.presence.forget, player.id)
        attempt("purging deadlines", player, world.players.deadlines.forget, player, PlayerDeadline)

    def _report(self, player: Player, reason: str) -> None:
        world = self._world
        world.faults.report(PlayerLeft(player.name, player.zone.definition.description, reason))

    async def give_up(self, player: Player) -> None:
        """Take out a player that enters at another process, and store it before that one reads it.

        Raises `StoreError` if it cannot be stored; the player is out of the world nevertheless.
        """
        world = self._world
        # Read before `leave`, which may raise halfway.
        to = player.journey.destination or Destination(player.zone.zone_id, player.position)
        player.journey.is_elsewhere = True
        self.leave(player, LeaveReason.ELSEWHERE, world.clock.now())
        await world.saves.store(player, to)  # waits for the save of `leave` as well

    async def send_to_other_node(self, player: Player, instance: int | None = None) -> bool:
        """Send a player to where it stands, on the node that runs its zone now.

        `instance` is the player's, if that was placed on another node. Return False if that is
        this node. A link-dead player, which has no client to send, leaves the world. Raises
        the errors of `change_zone`.
        """
        world, zone_id = self._world, player.zone.zone_id
        if await world.processes.zone_servers.elsewhere(zone_id, instance) is None:
            return False
        if player.state is PlayerState.LINK_DEAD:
            self.remove(player, LeaveReason.DRAINED, world.clock.now())
        else:
            await self.change_zone(player, Destination(zone_id, player.position), instance)
        return True

    # -- to another zone ------------------------------------------------------------------------

    async def change_zone(
        self, player: Player, to: Destination, instance: int | None = None
    ) -> None:
        """Send a player to another zone, or to another place in a zone that it loads anew.

        `instance` is the one to enter if it was placed on another node.

        Raises `NoSuchZone`, `StoreError`, `CommandError` if the player changes its zone already or
        does not set off, `Unanswered` if no node can run that zone, and `LimitExceeded` if too many
        keys are outstanding.
        """
        if player.journey.is_travelling:
            raise CommandError(f"{player.name} is on its way already")
        # A second portal, or a command, during the awaits below would issue a second key.
        player.journey.is_travelling = True
        try:
            await self._change_zone(player, to, instance)
        finally:
            player.journey.is_travelling = False

    async def _change_zone(self, player: Player, to: Destination, instance: int | None) -> None:
        world = self._world
        definition = world.zones.definition(to.zone_id)
        there = Destination(to.zone_id, to.position or definition.safe)
        account_id, client = player.character.account_id, player.client
        # The key carries whether the player is hidden: the other process has no other way to know.
        entry = EntryOrigin.ZONE_HIDDEN if player.spawn.hidden else EntryOrigin.ZONE
        rank = player.character.admin_status
        before = player.journey.destination
        # A key that nobody uses, because no node can run the zone, ends by itself.
        key, there_at = await both(
            world.processes.handoffs.issue(account_id, player.id, player.name, rank, entry),
            world.processes.zone_servers.elsewhere(to.zone_id, instance),
        )
        if there_at is not None:
            # Before the client is sent anything: the other process reads the character as soon as
            # the client shows its key.
            await self._store_there(player, there)
        if player.state not in IN_ZONE or player.client is not client:
            # It has left, or was taken over, while this coroutine waited.
            if there_at is not None:
                self._stay(player, before)
            raise CommandError(f"{player.name} has left, or has lost the link")
        player.journey.key = key
        # Taken after the awaits, which may have lasted for seconds.
        now = world.clock.now()
        if there_at is None:
            self._start_zoning(player, there, now)
        else:
            # The other process reads the player from the store, so it leaves this one before its
            # client connects there.
            player.journey.is_elsewhere = True
            self._take_out(player, f"went to {definition.description}, served elsewhere", now)
            world.players.deadlines.set(player, PlayerDeadline.ZONING, Monotonic(now + ZONING_TIME))
        host, port = self.address() if there_at is None else (there_at.host, there_at.port)
        send_text(player.client, f"Zoning to {definition.description}...")
        player.client.send(
            "WS_ZoneChangeMsg",
            {"account_id": account_id, "key": key, "ip_address": host, "port": port},
        )
        player.client.send("WS_CancelMoveObjectMode")

    async def _store_there(self, player: Player, there: Destination) -> None:
        """Store a player at its destination; any save meanwhile stores the same place."""
        # A periodic save while this one waits must not store the old place over the new one.
        before, player.journey.destination = player.journey.destination, there
        try:
            await self._world.saves.store(player, there)
        except StoreError:
            self._stay(player, before)  # the saver retries the state above, which must not win
            raise

    def _stay(self, player: Player, before: Destination | None) -> None:
        """Store a player where it is, which was stored at its destination and does not set off."""
        player.journey.destination = before
        # Who enters elsewhere is saved there, and who is back already has a place of its own.
        here = self._world.players.get(player.id)
        if not player.journey.is_elsewhere and (here is None or here is player):
            self._world.saves.save(player)

    def _start_zoning(self, player: Player, to: Destination, now: Monotonic) -> None:
        """Take a player out of its zone until its client connects again for the other one.

        A client that does not connect leaves when the deadline is due, even if a step here raised.
        """
        world, zone = self._world, player.zone
        attempt = world.faults.attempt
        # A camp timer that went on would take the player out in the middle of the change.
        world.players.deadlines.forget(player, PlayerDeadline)
        # Set before the steps that may raise, so that the player leaves in the end in every case.
        world.players.deadlines.set(player, PlayerDeadline.ZONING, Monotonic(now + ZONING_TIME))
        player.journey.destination = to
        player.state = PlayerState.ZONING
        attempt("closing a player's view", player, player.close_view, now)
        attempt("taking a spawn out of its zone", player, zone.remove, player.spawn, now)
        if zone.holds(player.spawn):
            player.viewer = None
            attempt("purging a spawn", player, zone.purge, player.spawn)
        world.events.publish_twice(WindowsGone(player))
        world.events.publish_twice(LeftZone(player))
        attempt("showing that nobody camps", player, _show_no_camp, player)
        world.saves.save_or_report(player)
        attempt("publishing a zone change", player, world.processes.presence.lost_link, player.id)

    def _ready_to_zone(self, player: Player, _body: bytes, now: Monotonic) -> None:
        """Close the session of a client that connects again, to this process or another."""
        if player.state in (PlayerState.ZONING, PlayerState.GONE):
            # The client says that it goes; it opens a new session to the address that it was sent.
            player.client.close()
            return
        self._world.refused(player, LeaveReason.NOT_ZONING)
        self.leave(player, LeaveReason.NOT_ZONING, now)


def _show_no_camp(player: Player) -> None:
    player.spawn.set_word(StateWord.CAMPING, on=False)


def _show_link_dead(player: Player) -> None:
    _show_no_camp(player)
    player.spawn.set_word(StateWord.LINK_DEAD, on=True)


def _goes_to_characters(request: Mapping[str, Any]) -> bool:
    """Return whether a client camps to choose another character: so does one that says nothing."""
    if request.get("camp_char_select"):
        return True
    return not (request["camp_desktop"] or request.get("camp_login"))
