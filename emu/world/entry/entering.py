"""Zone entry: from the world key to a player that stands in a zone.

A client enters in one of three ways: its character is loaded, its character is in the world and
is taken over, or it comes back from zoning. Then it loads the zone in steps and reports each.
The order of the messages is the one that EQ2Emulator was recorded to send
(docs/protocol/world/entering.md#order).

A client may skip steps. A client that reports its entities loaded without having asked for them is
sent them first, and the signal of the avatar brings everything that is still missing. The messages
that report a step have bodies; the server reads none but the signal's.

Source: docs/protocol/world/entering.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from emu.dialects.dialect import AVATAR_READY
from emu.errors import EmuError, public_text
from emu.model import SEES_HIDDEN, Hotkey, SavedKind, WorldCharacter
from emu.opcodes.checks import ENTERING
from emu.times import UNKNOWN, Monotonic
from emu.usable import usable_world_character
from emu.world.actors.client import ERROR_COLOR, PlayerClient, send_text
from emu.world.actors.holdings import Holdings, Loaded
from emu.world.actors.past import Past
from emu.world.actors.player import IN_ZONE, Player, PlayerDeadline, PlayerState
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Destination, Spawn, SpawnKind, StateWord, spawn_appearance
from emu.world.clock import game_time
from emu.world.entry import client_records, initial_messages, window_messages
from emu.world.entry.account_changes import AccountChanges
from emu.world.entry.advancements import read_advancements
from emu.world.entry.leaving import Departures, LeaveReason
from emu.world.events import Arrived, ClientLoaded, Entered, LeftWorld, Signalled
from emu.world.item_events import WindowsGone
from emu.world.items.items import Items
from emu.world.items.texts import NARRATIVE
from emu.world.login_events import LoggedIn
from emu.world.messages import NOT_ZONING, WorldMessages
from emu.world.reports import PlayerEntered, ValueReplaced
from emu.world.saving.saves import restore_vitals
from emu.world.sheets import CharacterSheets
from emu.world.skills import send_skill_book
from emu.world.visibility.forms import GhostForms
from emu.world.visibility.viewer import Viewer
from emu.world.world import World
from emu.world.zones.definitions import Atlas, ZoneDefinition
from emu.world.zones.directory import NoSuchZone
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

FAR_AWAY: Final = 9999.0
LONGEST_SIGNAL: Final = 64
"""Letters of a client's signal that count."""
SEND_AGAIN: Final = 5.0
"""Seconds until a player is sent on again that waits for a zone of another node."""


class CommandTable(Protocol):
    """Sends clients their commands; `emu.world.commands.RemoteCommands` does."""

    def send_table(self, player: Player) -> None:
        """Send a client the commands that its rank allows, unless it has them all."""


class CraftRecords(Protocol):
    """Sends clients that enter what a player has of collections and recipes."""

    def send_collections(self, player: Player) -> None:
        """Send a client its collections."""

    def send_recipes(self, player: Player) -> None:
        """Send a client its recipe book."""


class ZoneEntries:
    """Enters players into the world and its zones."""

    def __init__(
        self,
        world: World,
        departures: Departures,
        account_changes: AccountChanges,
        sheets: CharacterSheets,
        commands: CommandTable,
        *,
        forms: GhostForms,
        items: Items,
        copy_of: Callable[[WorldCharacter, ZoneDefinition], int],
        sent_back: Callable[[WorldCharacter, ZoneDefinition], Destination | None],
        first_hotkeys: Callable[[WorldCharacter], tuple[Hotkey, ...]],
        crafts: CraftRecords,
        send_quests: Callable[[Player], object],
        send_spells: Callable[[Player], object],
        send_standings: Callable[[Player], object],
    ) -> None:
        """`copy_of` returns the number of the copy of a zone that a character enters.

        It is 0 if all share the zone. `sent_back` returns where a character enters that may not
        enter its zone yet, None if it may. `first_hotkeys` returns those of a new character.
        The others send a client the list of its quests, its spells, and what factions think of it.
        """
        # Now, since the first player would keep all others waiting for it.
        read_advancements()
        self._send_quests = send_quests
        self._send_spells = send_spells
        self._send_standings = send_standings
        self._forms = forms
        self._items = items
        self._copy_of = copy_of
        self._sent_back = sent_back
        self._first_hotkeys = first_hotkeys
        self._crafts = crafts
        self._world = world
        self._departures = departures
        self._account_changes = account_changes
        self._sheets = sheets
        self._commands = commands
        self._waits = world.timetable.deadlines("players who wait for a node", self._send_again)
        world.events.subscribe(Entered, self._continue)
        world.events.subscribe(LeftWorld, lambda event: self._waits.clear(event.player, ""))

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of a client that loads its zone to the table."""
        messages.add_handler("OP_DoneLoadingZoneResourcesMsg", self._zone_loaded, NOT_ZONING)
        messages.add_handler("OP_DoneLoadingEntityResourcesMsg", self._entities_loaded, NOT_ZONING)
        messages.add_handler("OP_DoneLoadingUIResourcesMsg", self._ui_loaded, NOT_ZONING)
        messages.add_handler("OP_SignalMsg", self._signal, NOT_ZONING)
        messages.add_handler("OP_SysClient", self._signal, NOT_ZONING)
        messages.add_handler("OP_QuickbarUpdateMsg", self._hotbar, NOT_ZONING)
        messages.add_handler("OP_DefaultGroupOptionsRequestMsg", _group_options, NOT_ZONING)
        messages.add_handler("OP_SendLatestRequestMsg", _latest, NOT_ZONING)

    # -- into the world -------------------------------------------------------------------------

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
        """Enter a client that has shown its key; return the player that it plays now.

        If the character is in the world already, the client takes it over and its earlier session
        is closed. `character` was just loaded, so its rank, name and mute apply from now on, and so
        do its things: `loaded`, which has to be current (`WorldService.is_current`).
        `hidden` is whether the character was hidden in the process that it comes from, `is_zoning`
        whether its key is that of a change of the zone.

        Raises `UnknownOpcode` or `UnknownStruct` if the client's version cannot be served, and
        `NoSuchZone`. Whatever is raised, the character is then out of the world, or as it was
        before.
        """
        # Messages without a number are left out, so the client would wait for its zone in vain.
        client.dialect.table.number(ENTERING)
        try:
            return self._enter(
                character, client, now, loaded, key, hidden=hidden, is_zoning=is_zoning
            )
        except BaseException:
            # Cancellation too. The check of the client keeps a player that was here before: it
            # belongs to the earlier session.
            half = self._world.players.get(character.id)
            if half is not None and half.client is client:
                self._departures.remove(half, LeaveReason.NOT_ENTERED, now)
            raise

    def _enter(
        self,
        character: WorldCharacter,
        client: PlayerClient,
        now: Monotonic,
        loaded: Loaded,
        key: int,
        *,
        hidden: bool,
        is_zoning: bool,
    ) -> Player:
        world = self._world
        player = world.players.get(character.id)
        if player is not None:
            # Also for a player that is taken over: its rank may have been lowered since it entered.
            self._account_changes.refresh(player, character)
            if player.state is PlayerState.ZONING:
                # The key distinguishes a client that was sent here from a new login, which has none
                # of the messages that are sent once.
                self._arrive(player, client, now, is_new=key != player.journey.key)
            else:
                self._take_over(player, client, now)
            return player
        assert loaded.holdings is not None  # noqa: S101  # it is current, and nobody is here
        player = self._load(character, client, now, loaded.holdings)
        is_hidden = hidden or loaded.was_hidden
        player.spawn.hidden = is_hidden and character.admin_status >= SEES_HIDDEN
        player.journey.is_from_node = is_zoning
        # From here on the character is in the world, so `enter` must remove it if a later step
        # raises.
        world.players.add_player(player)
        world.list_zone(player.zone)
        self._save_later(player, now)
        self._begin(player, first=True)
        return player

    def _load(
        self, character: WorldCharacter, client: PlayerClient, now: Monotonic, holdings: Holdings
    ) -> Player:
        world = self._world
        # What it had when it left counts even if that is not stored yet.
        character = self._usable(world.saves.saver.latest(character))
        is_new = character.last_played == UNKNOWN
        if is_new:
            # Only once: a title that was taken away must not come back with the next entry.
            character = self._beginner(character)
        zone_id, place = at = self._home(character)
        # Another node runs the zone now, although the login server sent the client here. It waits,
        # and is sent on as soon as it stands.
        is_elsewhere = not world.processes.zone_servers.serves(zone_id)
        if is_elsewhere:
            zone_id, place = self._waiting_place(character, at)
        zone = self._zone_for(character, zone_id, now)
        spawn = Spawn(
            world.zones.next_spawn_id(),
            SpawnKind.PLAYER,
            character.name,
            place,
            last_name=character.last_name,
            level=character.level,
            appearance=spawn_appearance(character),
        )
        player = Player(
            character, spawn, zone, client, movement=world.rules.movement, now=now,
            holdings=holdings,
        )  # fmt: skip
        if is_elsewhere:
            player.journey.destination = Destination(*at)
        for name, value in world.knowledge.beginners.resistances(character).items():
            spawn.sheet.set(name, FieldKind.UNSIGNED, value)
            spawn.sheet.set(f"{name}_base", FieldKind.UNSIGNED, value)
        spawn.words |= player.options.words
        spawn.appearance = {**spawn.appearance, **player.client_data.voice_fields()}
        player.titles.show(spawn)
        self._items.dress(player)
        # Worn things add to the most, so it comes after them.
        restore_vitals(player)
        # A mute that is being stored is newer than the row.
        player.limits.muted_until = world.players.pending_mutes.get(
            character.account_id, character.muted_until
        )
        # What `_beginner` gave is not in the store yet.
        if is_new:
            world.saves.changed(player, SavedKind.TITLES, now)
            world.saves.changed(player, SavedKind.HOTKEYS, now)
            world.saves.changed(player, SavedKind.PAST, now)
        return player

    def _home(self, character: WorldCharacter) -> tuple[int, Position]:
        """Return zone and place where a character enters; see `home`."""
        table = self._world.zones.table
        zone_id, place = home(table, character)
        back = self._sent_back(character, self._world.zones.definition(zone_id))
        if back is None or (zone := table.get(back.zone_id)) is None:
            return zone_id, place
        return zone.id, back.position or zone.safe

    def _beginner(self, character: WorldCharacter) -> WorldCharacter:
        """Return a character that was never played, with what new ones have.

        Its skills are those of its first class, until a script or their use changes them
        (real-entry-1208-start-fighter-priest).
        """
        begins = self._world.knowledge.beginners
        past = Past(character.past)
        for faction, standing in begins.standings(character).items():
            # It may have entered before, without having been stored since.
            if faction not in past.standings:
                past.change_standing(faction, standing)
        return replace(
            character,
            titles=(*character.titles, *begins.titles(character)),
            hotkeys=character.hotkeys or self._first_hotkeys(character),
            skills=character.skills or tuple(begins.skills(character)),
            past=past.text,
        )

    def _usable(self, character: WorldCharacter) -> WorldCharacter:
        """Return a character with defaults for unusable values, which are reported."""
        usable, problems = usable_world_character(character)
        for problem in problems:
            # Reported, because the next save stores the replacement: the operator can still restore
            # the value.
            self._world.faults.report(ValueReplaced(usable.name, str(problem)))
        if self._world.zones.table.get(usable.zone_id) is None:
            text = f"its zone ({usable.zone_id}) is not in this world; it begins anew"
            self._world.faults.report(ValueReplaced(usable.name, text))
        return usable

    def _zone_for(self, character: WorldCharacter, zone_id: int, now: Monotonic) -> Zone:
        """Return the zone that a character enters: its own copy, or one that all share."""
        world = self._world
        copy = self._copy_of(character, world.zones.definition(zone_id))
        if copy:
            return world.zones.private(zone_id, copy, now)
        return world.zones.with_space(
            zone_id,
            now,
            world.players.count_seen_in,
            world.processes.zone_servers.instances(zone_id),
        )

    def _save_later(self, player: Player, now: Monotonic) -> None:
        due = Monotonic(now + self._world.rules.save_interval)
        self._world.players.deadlines.set(player, PlayerDeadline.SAVE, due)

    # -- a client for a player that is here -----------------------------------------------------

    def _take_over(self, player: Player, client: PlayerClient, now: Monotonic) -> None:
        """Let a new session play a character that is still in the world."""
        # The old viewer's ghosts belong to the old client; the new one begins with none.
        player.close_view(now)
        self._world.events.publish(WindowsGone(player))
        _connect(player, client)
        self._world.players.deadlines.forget(
            player, (PlayerDeadline.CAMP, PlayerDeadline.LINK_DEAD)
        )
        for word in (StateWord.LINK_DEAD, StateWord.CAMPING):
            player.spawn.set_word(word, on=False)
        player.pace.moved_by_server(now)
        self._begin(player, first=True)

    def _arrive(
        self, player: Player, client: PlayerClient, now: Monotonic, *, is_new: bool
    ) -> None:
        """Enter a player into the zone that it was sent to; `is_new` if its client logged in."""
        world = self._world
        assert player.journey.destination is not None  # noqa: S101  # the meaning of ZONING
        zone_id, place = player.journey.destination
        before = player.zone
        # Chosen on arrival and not when the player was sent: the instance may have filled up or
        # ended since.
        player.zone = self._zone_for(player.character, zone_id, now)
        # After the new zone is set: the old one counts its players by this attribute.
        world.left_zone(before, now)
        player.spawn.move(place or world.zones.definition(zone_id).safe)
        player.journey.destination = None
        world.list_zone(player.zone)
        _connect(player, client)
        player.pace.moved_by_server(now)
        world.players.deadlines.clear(player, PlayerDeadline.ZONING)
        self._save_later(player, now)
        self._begin(player, first=is_new)

    # -- a zone that another node runs ----------------------------------------------------------

    def _waiting_place(
        self, character: WorldCharacter, at: tuple[int, Position]
    ) -> tuple[int, Position]:
        """Return where a character waits whose zone another node runs."""
        world, places = self._world, self._world.zones.table
        start = places.get(places.start_of(character).zone_id)
        # Any zone will do, because the player stays there for a moment only; the usual start comes
        # first.
        for zone in (start, *places):
            if zone is not None and world.processes.zone_servers.serves(zone.id):
                return zone.id, zone.safe
        # This node runs no zone yet: the character waits where it was, in an instance of its own
        # node, which ends when it is sent on.
        return at

    def _continue(self, event: Entered) -> None:
        """Send a player on that waits here for a zone of another node."""
        player = event.player
        # A player has a destination here only if it waits for a zone of another node.
        if player.journey.destination is not None:
            self._world.start(self._send_on(player, player.journey.destination))

    def _send_again(self, player: Player, _name: str, _now: Monotonic) -> None:
        to = player.journey.destination
        if to is not None and player.state in IN_ZONE:
            self._world.start(self._send_on(player, to, is_repeated=True))

    async def _send_on(self, player: Player, to: Destination, *, is_repeated: bool = False) -> None:
        try:
            await self._departures.change_zone(player, to)
        except EmuError as error:
            if not is_repeated:
                why = public_text(error)
                send_text(player.client, f"You cannot be where you were: {why}", ERROR_COLOR)
                self._world.refused(player, f"not sent on to its zone: {error}")
            # A node that can run the zone may start at any time. Until then the player stands in a
            # zone that nobody has placed here: it must not stay for good.
            if player.state in IN_ZONE:
                due = Monotonic(self._world.clock.now() + SEND_AGAIN)
                self._waits.set(player, "", due)

    # -- loading the zone -----------------------------------------------------------------------

    def _begin(self, player: Player, *, first: bool) -> None:
        """Send what lets a client load its zone.

        `first` is whether the client comes from the login; one that changes its zone has the
        messages that are sent once.
        """
        world, client = self._world, player.client
        player.state = PlayerState.LOADING
        # Remembered until the avatar stands, because the rest of the messages depend on it as well.
        player.journey.is_returning = not first
        if first:
            # Names come before everything that refers to skills and languages by number.
            initial_messages.send_names(client, world.knowledge)
        initial_messages.send_login_reply(client)
        player.client_data.hotbars.send(client)
        client_records.send_macros(player)
        if first and world.rules.motd:
            send_text(client, world.rules.motd)
        initial_messages.send_journals(
            player, self._send_quests, self._crafts.send_collections, self._send_standings
        )
        self._commands.send_table(player)
        initial_messages.send_languages(client, world.knowledge, player.character)
        definition = player.zone.definition
        time = game_time(world.clock.moment())
        initial_messages.send_zone(player, world.rules.name, definition, time)
        client_records.send_fog(player)
        initial_messages.send_relations(player)

    def _zone_loaded(self, player: Player, _body: bytes, now: Monotonic) -> None:
        """Send the spawns near the player: the client has loaded the zone.

        A client that repeats this message has the spawns. It reads again that these are all.
        """
        client = player.client
        form = self._forms.of(client.dialect)
        is_first = player.state is PlayerState.LOADING
        if is_first:
            player.state = PlayerState.PLACING
        if is_first and form is not None:
            # Before the player's own ghost, as recorded: the client waits for the spawns around it
            # first.
            view = partial(
                Viewer, player.spawn, form, client, standings=player.past.standings,
                player_shown=partial(self._player_shown, player),
            )  # fmt: skip
            player.viewer = player.zone.enter(view, now)
        far = dict.fromkeys(("unknown", "unknown1", "unknown2"), FAR_AWAY)
        client.send("WS_MoveableObjectPlacementCriteri", far)
        initial_messages.send_time(player.client, self._world.clock.moment())
        client.send_bytes("OP_DoneSendingInitialEntitiesMsg")

    def _player_shown(self, player: Player, spawn: Spawn) -> None:
        """Send a player its sheet when its client has the ghost of another member of its group.

        The sheet names the ghosts of the members. It is sent later to a client that still enters.
        """
        world = self._world
        group = world.groups.table.of(player.id)
        if group is None or player.viewer is None or spawn is player.spawn:
            return
        members = map(world.players.get, group.members)
        if any(other is not None and other.spawn is spawn for other in members):
            self._sheets.send(player)

    def _entities_loaded(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Send the player's own ghost and control of it: the client has loaded the spawns."""
        # The client has skipped a step; what that step sends comes first.
        if player.state is PlayerState.LOADING:
            self._zone_loaded(player, body, now)
        if player.state is not PlayerState.PLACING:
            # It has its ghost and its lists, so a client that repeats this gets the rest again.
            initial_messages.send_control(player.client)
            self._sheets.soon(player)
            return
        player.state = PlayerState.APPEARING
        client = player.client
        # None for a client version whose ghosts are unknown: it enters, but is shown no spawns.
        if player.viewer is not None:
            player.zone.show_own(player.viewer, now)
        initial_messages.send_control(client)
        knowledge, character = self._world.knowledge, player.character
        # A character without skills of its own has those of a new one.
        skills = character.skills or knowledge.beginners.skills(character)
        self._send_each(
            player,
            partial(self._sheets.send, player),
            partial(window_messages.send_no_pet, client),
            partial(window_messages.send_traits, client),
            partial(send_skill_book, player, knowledge, skills),
            partial(self._send_spells, player),
            partial(client_records.send_kept, player),
        )
        # Last: from now on others see the player, and its client has everything to be seen with.
        player.zone.add_spawn(player.spawn, now)

    def _signal(self, player: Player, body: bytes, now: Monotonic) -> None:
        signal = player.client.dialect.layout("WS_Signal").decode(body)["signal"]
        if signal == AVATAR_READY:
            self._avatar_ready(player, body, now)
        if player.state in IN_ZONE:
            self._world.events.publish(Signalled(player, signal[:LONGEST_SIGNAL]))

    def _avatar_ready(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Start to send updates: the client's avatar stands."""
        if player.state in (PlayerState.LOADING, PlayerState.PLACING):
            self._entities_loaded(player, body, now)
        if player.state is not PlayerState.APPEARING:
            return
        world, client = self._world, player.client
        # Set before the rest, so that a listener which asks who stands in the zone finds this
        # player.
        player.state = PlayerState.STANDING
        self._send_each(player, partial(self._items.send_lists, player))
        if not player.journey.is_returning:
            world.events.publish(Arrived(player, now))
            if not player.journey.is_from_node:
                world.events.publish(LoggedIn(player))
            # Only once: who comes back with another client later logs in.
            player.journey.is_from_node = False
        self._send_each(
            player,
            partial(player.titles.send, client),
            partial(window_messages.send_own_title, player),
            partial(initial_messages.send_group_options, player),
            partial(self._crafts.send_recipes, player),
        )
        if player.viewer is not None:
            # Updates begin only after the messages above, which the client handles in order.
            player.zone.ready(player.viewer, now)
        definition = player.zone.definition
        if definition.motd:
            # Before the zone's script says anything; so it is recorded, as the color is
            # (real-entry-1208-start-fighter-priest).
            send_text(client, f"Zone MOTD: {definition.motd}", NARRATIVE)
        world.events.publish(Entered(player, now))
        world.faults.report(
            PlayerEntered(
                player.name, player.character.account_id, client.address, client.version,
                definition.description,
            )
        )  # fmt: skip

    def _send_each(self, player: Player, *sends: Callable[[], object]) -> None:
        """Call functions that send a client its windows, each even if one before has raised.

        What one window lacks for a client's version must not keep the zone from the client.
        """
        for send in sends:
            self._world.faults.attempt("sending what a player has", player, send)

    def _ui_loaded(self, player: Player, _body: bytes, _now: Monotonic) -> None:
        """Echo that the interface is loaded: clients up to 561 wait for it.

        Source: docs/protocol/world/entering.md#order.
        """
        player.client.send_bytes("OP_DoneLoadingUIResourcesMsg")
        self._world.events.publish(ClientLoaded(player))

    def _hotbar(self, player: Player, body: bytes, now: Monotonic) -> None:
        player.client_data.hotbars.apply_change(player.client.dialect, body)
        self._world.saves.changed(player, SavedKind.HOTKEYS, now)


def _group_options(player: Player, _body: bytes, _now: Monotonic) -> None:
    initial_messages.send_group_options(player)


def _latest(player: Player, _body: bytes, _now: Monotonic) -> None:
    player.client.send_bytes("OP_ClearDataMsg", b"\1")


def _connect(player: Player, client: PlayerClient) -> None:
    """Give a player to another session, and close the one before."""
    before = player.client
    player.connect(client)
    before.close()  # after `connect`: the end of the session that plays it makes it link-dead


def home(places: Atlas, character: WorldCharacter) -> tuple[int, Position]:
    """Return zone and place where a character enters.

    A character whose zone was removed from the world begins anew. Raises `NoSuchZone` if the zone
    of new characters does not exist either.
    """
    zone = places.get(character.zone_id)
    if zone is not None:
        return zone.id, Position(*character.place) if character.place else zone.safe
    start = places.start_of(character)
    zone = places.get(start.zone_id)
    if zone is None:
        raise NoSuchZone(character.zone_id)
    return zone.id, start.place or zone.safe
