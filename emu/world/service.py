"""The world service: players, their messages and the time enter the world here.

Whatever one player sends, a fault in it does not affect the others.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakSet

from emu.errors import EmuError, PeerError, StoreError, Unanswered
from emu.gather import both
from emu.limits.repeats import UnknownMessages, first_bytes
from emu.model import WorldCharacter
from emu.processes.claiming import OwnedThings
from emu.processes.ports import Note
from emu.processes.settings import LOCKED, NO, YES
from emu.times import Monotonic
from emu.world.actors.client import PlayerClient, PlayerLink
from emu.world.actors.holdings import Loaded
from emu.world.actors.player import Player
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.entering import ZoneEntries, home
from emu.world.entry.leaving import Departures, LeaveReason
from emu.world.events import LeftWorld, Order, StatusChanged
from emu.world.items.items import Items
from emu.world.messages import WorldMessages
from emu.world.reports import NotHandled
from emu.world.spells.books import SpellBooks
from emu.world.world import World

GIVE_UP: Final = "world.give_up"
"""Topic of a request to another process, followed by its name: ``char_id`` is to leave there."""


class WorldService:
    """Connects players' clients to the world."""

    def __init__(
        self,
        world: World,
        messages: WorldMessages,
        entries: ZoneEntries,
        departures: Departures,
        *,
        admission: WorldAdmissionRules,
        items: Items,
        books: SpellBooks,
    ) -> None:
        """`messages` are those of all handlers."""
        self.world = world
        self.messages = messages
        self._entries = entries
        self._departures = departures
        self._admission = admission
        self._items = items
        self._books = books
        self._unknown_messages = UnknownMessages()
        self._loads: WeakSet[Loaded] = WeakSet()
        """What was loaded of characters that have not entered yet."""
        world.events.subscribe(LeftWorld, self._left, Order.OWNER)
        configured = YES if admission.locked else NO
        world.settings.follow(LOCKED, configured, self._lock_changed)
        world.processes.bus.answer(f"{GIVE_UP}.{world.processes.name}", self._give_up)

    # -- settings of operators ------------------------------------------------------------------

    def _lock_changed(self, value: str) -> None:
        self._admission.locked = value == YES
        self.world.events.publish(StatusChanged())
        if self._admission.locked:
            self.world.start(self._lock_out())

    async def _lock_out(self) -> None:
        """Withdraw the keys of characters that a locked world refuses."""
        try:
            await self._admission.withdraw_refused()
        except StoreError as error:
            self.world.count(f"issued keys not withdrawn: {error}")

    # -- clients --------------------------------------------------------------------------------

    async def fetch(self, char_id: int) -> None:
        """Make another process give up and store a character that enters here.

        If that process cannot be reached, or cannot store it, its last stored state applies.
        """
        world = self.world
        present = world.processes.presence.find(char_id)
        # A character of this process is taken over where it stands; it needs no save in between.
        if present is None or present.process == world.processes.name:
            return
        try:
            await world.processes.bus.request(f"{GIVE_UP}.{present.process}", {"char_id": char_id})
        except EmuError as error:
            world.count(f"not given up by another process: {error}")

    async def place(self, character: WorldCharacter) -> None:
        """Place the zone of a character that enters, so that `enter` knows which node runs it.

        If that fails, the character enters here, and is sent on once its zone can be reached.
        """
        world = self.world
        player = world.players.get(character.id)
        if player is not None and player.journey.destination is not None:
            zone_id = player.journey.destination.zone_id
        else:
            zone_id = home(world.zones.table, world.saves.saver.latest(character))[0]
        try:
            await world.processes.zone_servers.elsewhere(zone_id)
        except (StoreError, Unanswered) as error:
            world.count(f"zone not placed: {error}")

    def has_stored(self, account_id: int) -> bool:
        """Return whether the things of an account's characters that have left here are stored."""
        return self._items.exchanges.has_stored(account_id)

    async def load(
        self, character: WorldCharacter, version: int, things: OwnedThings | None = None
    ) -> Loaded:
        """Load the things and spells of a character that enters. Raises `StoreError`.

        If a client of another version plays it here, it leaves: what others see of it, and what it
        was sent, is for that version. `things` are what `Items.load` takes.
        """
        loaded = Loaded(character.id)
        self._loads.add(loaded)
        player = self.world.players.get(character.id)
        if player is not None and player.client.version != version:
            loaded.was_hidden = player.spawn.hidden
            self._departures.leave(player, LeaveReason.OTHER_CLIENT, self.world.clock.now())
        loaded.holdings, _ = await both(
            self._items.load(character, things), self._books.fetch(character)
        )
        return loaded

    def is_current(self, character: WorldCharacter, loaded: Loaded, version: int) -> bool:
        """Return whether a character can enter with its row and what was loaded of it.

        Otherwise it came or left in the meantime, by another session: both are to be read again.
        """
        player = self.world.players.get(character.id)
        if player is not None:
            return player.client.version == version
        is_loaded = loaded.holdings is not None and not loaded.is_stale
        return is_loaded and self.world.saves.saver.is_current(character)

    def _left(self, event: LeftWorld) -> None:
        for loaded in self._loads:
            if loaded.char_id == event.player.id:
                loaded.is_stale = True

    async def _give_up(self, note: Note) -> Note:
        player = self.world.players.get(int(note["char_id"] or 0))
        if player is not None:
            await self._departures.give_up(player)
        return {}

    def enter(
        self,
        character: WorldCharacter,
        client: PlayerClient,
        now: Monotonic,
        loaded: Loaded,
        *,
        key: int = 0,
        hidden: bool = False,
        is_zoning: bool = False,
    ) -> Player:
        """Enter a client that has shown its key; see `ZoneEntries.enter`."""
        return self._entries.enter(
            character, client, now, loaded, key=key, hidden=hidden, is_zoning=is_zoning
        )

    def message(self, player: Player, opcode: int, body: bytes, now: Monotonic) -> None:
        """Handle one application message of a player's client."""
        world, client = self.world, player.client
        if not player.session.may_send(now, world.rules.message_rate, world.rules.message_burst):
            # Predictions are deltas against the one before, so none of them could be left out.
            world.count("too many messages")
            self._departures.leave(player, LeaveReason.FLOOD, now)
            return
        name = client.dialect.table.names.get(opcode)
        # By name and not by number: the same message has another number in each client version.
        rule = self.messages.get(name) if name else None
        if rule is None:
            self._not_handled(player, opcode, body)
            return
        # Clients repeat messages after a slow load, so one out of order is no reason to end the
        # session.
        if player.state not in rule.states:
            client.drop("message out of order")
            world.count("message out of order")
            return
        try:
            rule.handler(player, body, now)
        except PeerError as error:
            # The client's fault: counted for it and the world, but not logged, because a client can
            # cause thousands.
            client.drop(error.reason)
            world.count(error.reason)
        except EmuError as error:
            self._refused(player, str(name), error)

    def _refused(self, player: Player, message: str, error: EmuError) -> None:
        """Count a refused message; log the first of its kind for each client."""
        client, reason = player.client, f"{message} refused"
        client.drop(reason)
        self.world.count(reason)
        if client.drops[reason] == 1:
            self.world.refused(player, f"{message}: {error}")

    def _not_handled(self, player: Player, opcode: int, body: bytes) -> None:
        client = player.client
        client.drop("unknown message")
        self.world.count("unknown message")
        # One report for each account and version, so that a flood of invented opcodes fills no log.
        whose = (player.character.account_id, client.version)
        if self._unknown_messages.is_new(whose, opcode):
            message = client.dialect.table.names.get(opcode, "")
            self.world.faults.report(
                NotHandled(
                    player.name, message, client.address, client.version, opcode, len(body),
                    first_bytes(body),
                )
            )  # fmt: skip

    def drained(self, player: Player, link: PlayerLink, now: Monotonic) -> None:
        """Send a player what waited for capacity; a session that was taken over gets nothing."""
        # The session of an earlier client can end long after another one has taken the player over.
        if player.client.link is not link:
            return
        player.client.has_capacity()
        if player.viewer is not None:
            player.zone.drained(player.viewer, now)

    def closed(self, player: Player, link: PlayerLink, reason: str, now: Monotonic) -> None:
        """Handle the end of a session; that of a session that was taken over changes nothing."""
        if player.client.link is not link:
            return
        if not self.world.faults.attempt(
            "losing a link", player, self._departures.link_lost, player, reason, now
        ):
            self._departures.remove(player, reason, now)

    def send_away(self, player: Player, reason: str, now: Monotonic) -> None:
        """Take a player out of the world, link-dead or not."""
        self._departures.leave(player, reason, now)

    def close(self, now: Monotonic) -> None:
        """Take all players out of the world; all are saved."""
        # `players` iterates over a snapshot, so players can leave meanwhile.
        for player in self.world.players:
            self._departures.leave(player, LeaveReason.STOPPING, now)
