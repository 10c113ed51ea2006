"""The assembly of a world: makes every component, then connects them.

First every object exists, then each adds its messages, commands and subscriptions. Tests use it
with repositories in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.commands import Caller, Registry
from emu.dialects.dialect import read_numbers
from emu.errors import StoreError
from emu.model import WorldCharacter, may_see
from emu.scripts.signatures import FunctionTable
from emu.spells.kinds import SpellBook
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.sheet import SpellMarks
from emu.world.actors.spawn import Destination, Spawn
from emu.world.behaviors import Behaviors
from emu.world.combat.combat import Combat
from emu.world.combat.shards import Shards
from emu.world.combat.standings import send_standings
from emu.world.commands import CommandContext, RemoteCommands, world_commands
from emu.world.crafting.transmuting import TransmutePorts
from emu.world.deadlines import Timetable
from emu.world.entry.account_changes import AccountChanges
from emu.world.entry.admission import WorldAdmissionRules
from emu.world.entry.client_records import ClientRecords
from emu.world.entry.entering import ZoneEntries
from emu.world.entry.leaving import Departures
from emu.world.events import (
    Arrived,
    Died,
    Events,
    HidingChanged,
    LeftWorld,
    PlayedElsewhere,
    RankChanged,
)
from emu.world.groups.changes import GroupChanges
from emu.world.groups.groups import Groups
from emu.world.groups.shared import SharedGroups
from emu.world.handlers.interaction import Interaction, MovementRequests
from emu.world.hiding import Concealed
from emu.world.housing.furniture import PlacedThings
from emu.world.housing.housing import HousePorts, Housing
from emu.world.items.acts import ItemActs
from emu.world.items.items import Items
from emu.world.items.trading import Trading
from emu.world.ledger.ledger import Ledger
from emu.world.levels import Levels
from emu.world.login_events import LoggedOut
from emu.world.messages import WorldMessages
from emu.world.minds.shared import Minds
from emu.world.players import PlayerDeadlines, Players
from emu.world.population.population import ZonePopulation
from emu.world.population.saving import ZoneFiles
from emu.world.ports import SubjectRules, WorldPorts
from emu.world.quests.component import QuestParts
from emu.world.reports import BehaviorFailed, Faults, GroupsOrdered
from emu.world.rules import BehaviorRules
from emu.world.saving.saver import Saver
from emu.world.saving.saves import PlayerSaves
from emu.world.scripts.functions.every import EVERY
from emu.world.scripts.host import ScriptParts
from emu.world.scripts.visits import PlayerRegions
from emu.world.service import WorldService
from emu.world.sheets import CharacterSheets
from emu.world.skills import Skills
from emu.world.social.chat import Chat
from emu.world.social.guild_messages import FIRST_LEVEL
from emu.world.social.mail import Mail
from emu.world.social.memberships import Memberships
from emu.world.social.parcels import Parcels
from emu.world.spells.living import HELD, Control
from emu.world.spells.ports import NO_SPELL_SCRIPTS, SpellScripts
from emu.world.spells.spells import Spells
from emu.world.subjects.crafts import Crafting
from emu.world.subjects.houses import Houses
from emu.world.subjects.journals import JournalCommands
from emu.world.subjects.pet_windows import PetWindows
from emu.world.subjects.petitions import Petitions
from emu.world.subjects.recordings import Recordings
from emu.world.subjects.records import PlayerRecords
from emu.world.subjects.subject import Subject
from emu.world.subjects.tracking import Tracking
from emu.world.subjects.uses import ThingUses
from emu.world.subjects.zone_maps import ZoneMaps
from emu.world.travel.travel import Travel
from emu.world.visibility.forms import GhostForms
from emu.world.world import World
from emu.world.zones.chances import ZoneChances
from emu.world.zones.directory import Zones
from emu.world.zones.zone import Zone

_CHANCES: Final = 1 << 24
"""Steps of a random number from 0 up to 1."""


class Assembly:
    """Every component of one world."""

    def __init__(self, ports: WorldPorts, rules: SubjectRules, commands: Registry) -> None:
        """Make and connect them; add the world's commands to `commands`."""
        self.ports = ports
        self.faults = Faults(ports.report)
        self.timetable = Timetable(
            ports.wake, ports.record.attempting(self.faults.attempt), ports.clock.now
        )
        self.grounds = ports.content.grounds(self.timetable, ports.clock)
        self.population = ZonePopulation(
            ports.atlas, ports.content.zones(self, self._next_spawn_id)
        )
        self.world = self._make_world(rules)
        self._make_subjects(rules)
        self._make_minds(rules.behaviors)
        self.context = self._make_context()
        self.remote = RemoteCommands(self.world, commands, self.chat)
        self.messages = WorldMessages()
        self._make_handlers()
        self._connect(commands)

    # Given to what is made before the world.

    def _not_saved(self, character: WorldCharacter, error: StoreError) -> None:
        self.world.not_saved(character, error)

    def _count(self, reason: str) -> None:
        self.world.count(reason)

    def _next_spawn_id(self) -> int:
        return self.world.zones.next_spawn_id()

    def _zone_ended(self, zone: Zone) -> None:
        self.ports.record.ended(zone)
        self.population.forget(zone)
        self.grounds.ended(zone)
        self.furniture.ended(zone)
        self.world.zones.chances.ended(zone)

    def _make_world(self, rules: SubjectRules) -> World:
        ports, faults, timetable = self.ports, self.faults, self.timetable
        players = Players(PlayerDeadlines(timetable, faults))
        saver = Saver(
            ports.stores.characters,
            ports.start,
            longest_pause=lambda: self.world.rules.save_retry,
            failed=self._not_saved,
            wake=ports.wake_saver,
        )
        return World(
            rules=rules.world,
            zones=Zones(
                ports.atlas, ports.record.starting(self.population.begin), rules.zones,
                faults=faults, timetable=timetable,
                chances=ZoneChances(ports.roll, ports.seeded), ended=self._zone_ended,
                tick=ports.tick, clock=ports.clock.now,
            ),
            players=players,
            groups=self._make_groups(),
            saves=PlayerSaves(
                saver, ports.stores.characters, players.deadlines, faults,
                answer=ports.answer, clock=ports.clock,
                save_interval=lambda: self.world.rules.save_interval,
            ),
            events=Events(faults),
            faults=faults,
            knowledge=ports.knowledge,
            processes=ports.processes,
            settings=ports.settings,
            clock=ports.clock,
            start=ports.start,
        )  # fmt: skip

    def _make_groups(self) -> GroupChanges:
        ports, processes, faults = self.ports, self.ports.processes, self.faults
        if processes.run is None:
            return GroupChanges(Groups(), processes.presence, ports.clock, self.timetable)
        return SharedGroups(
            Groups(), processes.presence, ports.clock, self.timetable, bus=processes.bus,
            process=processes.name, run=processes.run, start=ports.start,
            count=self._count,
            report=lambda process: faults.report(GroupsOrdered(process)),
        )  # fmt: skip

    def _make_subjects(self, rules: SubjectRules) -> None:
        ports, world, stores = self.ports, self.world, self.ports.stores
        self.concealed = Concealed(world)
        self.sheets = CharacterSheets(world)
        self.admission = WorldAdmissionRules(
            rules.admission, ports.processes.presence, ports.processes.handoffs,
            locked=rules.locked,
        )  # fmt: skip
        self.departures = Departures(world, ports.address)
        self.account_changes = AccountChanges(world, self.departures)
        self.chat = Chat(world, rules.chat, read_numbers())
        self.skills = Skills(world, self.chat)
        self.memberships = Memberships(world, stores.guilds, self.chat, ports.answer)
        self.ledger = Ledger(world, stores.ledger, self.sheets, ports.draw)
        self.items = Items(
            world, stores.things, self.ledger, self.sheets, ports.kinds,
            answer=ports.answer, in_thread=ports.in_thread,
        )  # fmt: skip
        self.trading = Trading(
            self.items, stores.things, stores.ledger, ports.trade, roll=ports.roll,
            seeded=ports.seeded, despawn=self._despawn,
        )  # fmt: skip
        self.item_acts = ItemActs(self.items, self.trading.visits.has_bank)
        parcels = Parcels(self.items, stores.mail)
        self.mail = Mail(world, stores.mail, self.chat, self.ledger, parcels)
        self.petitions = Petitions(world=world, store=stores.petitions, chat=self.chat)
        records = PlayerRecords(world, self.memberships, self.items, stores.things)
        self.crafting = Crafting(
            self.items, ports.crafts, self.skills, roll=ports.roll, seeded=ports.seeded,
            despawn=self._despawn, give_experience=self._give_experience,
            give_trade=self._give_trade, art=self._art,
            transmuting=TransmutePorts(lambda: self.minds.conversations, self._cast_on_itself),
        )  # fmt: skip
        uses = ThingUses(self.items)
        self.subjects: tuple[Subject, ...] = (
            self.petitions, records, self.crafting, uses,
            Recordings(world, ports.record, ports.keep_recording),
            ZoneMaps(
                world, lambda: self.population.content, lambda: self.minds,
                lambda: self.scripts.homes if self.scripts is not None else None, self.grounds,
            ),
        )  # fmt: skip
        self.edits = ports.content.edits(self)
        self.travel = Travel(
            world, self.departures, self.ledger, ports.content.travel_tables, ports.roll,
            grounds=self.grounds, has_quest=self._has_quest,
        )  # fmt: skip
        self.housing = Housing(
            world, stores.houses, self.ledger, ports.content.homes,
            HousePorts(
                send=self._send_anew, enter_copy=self.travel.instances.assign,
                way_out=self.travel.returning.bound, guild_level=self._guild_level,
            ),
        )  # fmt: skip
        self.furniture = PlacedThings(world, self.housing, self.items)
        tracking = Tracking(world, self.skills, self.travel.waypoints, self.timetable)
        pets = PetWindows(world, lambda: self.spells.pets, self.chat, stores.characters)
        self.subjects = (*self.subjects, tracking, pets, Houses(self.housing, self.furniture))

    def functions(self) -> Sequence[FunctionTable]:
        """Return the functions for scripts; those of a subject are bound to it."""
        return (*EVERY, *(one.FUNCTIONS.bound(one) for one in self.subjects))

    def script_parts(self) -> ScriptParts:
        """Return what scripts use of this world."""
        return ScriptParts(
            world=self.world, chat=self.chat, minds=self.minds, travel=self.travel,
            mail=self.mail, items=self.items, trading=self.trading, quests=self.quests,
            spells=self.spells, sheets=self.sheets, shards=self.shards,
            functions=self.functions(), spent=self.ports.spent,
        )  # fmt: skip

    def _make_minds(self, limits: BehaviorRules) -> None:
        ports, world = self.ports, self.world
        for line in ports.library.problems:
            world.faults.report(BehaviorFailed("", "the behaviors' folder", line))
        self.minds = Minds(
            events=world.events, faults=self.faults, players=world.players,
            timetable=self.timetable, now=world.clock.now, grounds=self.grounds,
            chance=lambda: ports.roll(_CHANCES) / _CHANCES,
            aggro_needs_view=lambda: world.rules.aggro_needs_view,
            despawn=self.population.content.despawn,
        )  # fmt: skip
        self.behaviors = Behaviors(
            world, self.chat, self.departures, ports.library, ports.stores.memories,
            minds=self.minds, items=self.items, limits=limits, guard=ports.guard,
            clock=ports.spent,
        )  # fmt: skip
        self.spells = Spells(
            world, self.minds, self.chat, ports.spell_kinds, sheets=self.sheets,
            skills=self.skills, scripts=self._spell_scripts,
            may_fight=self._may_fight, in_thread=ports.in_thread, despawn=self._despawn,
            resurrections=lambda: self.combat.resurrections,
            population=self.population.content.population,
        )  # fmt: skip
        self._make_quests()
        self.shards = Shards(world, self.chat, self.sheets.send, lambda: self.scripts)
        self.scripts = ports.content.scripts(self)
        # Scripts ask before a level is reached, so they have the levels of all.
        self.levels = (
            self.scripts.levels if self.scripts is not None
            else Levels(world, self.chat, {}, self.sheets)
        )  # fmt: skip
        self.combat = Combat(
            world, self.minds, travel=self.travel, sheets=self.sheets,
            levels=self.levels, skills=self.skills, items=self.items, chat=self.chat,
            population=self.population.content.population, shards=self.shards,
        )  # fmt: skip

        self.combat.fights.hindrances.append(self.spells.hinders)
        self.spells.casts.spenders.append(self.combat.recovery.begin)
        self.spells.states.controlled.append(self._controlled)

    def _controlled(self, spawn: Spawn, marks: SpellMarks) -> None:
        """Let a creature stay that spells hold, run away if they scare it, and walk as they say."""
        self.combat.creatures.hold(spawn, on=not HELD.isdisjoint(marks.controls))
        self.combat.creatures.scare(spawn, on=Control.FEAR in marks.controls)
        self.spells.slow(spawn, marks.snare)

    def _send_anew(self, player: Player, to: Destination, now: Monotonic) -> bool:
        return self.travel.journeys.send(player, to, now, reloads=True)

    def _guild_level(self, player: Player) -> int:
        return FIRST_LEVEL if self.memberships.of(player.id) is not None else 0

    def _may_fight(self, player: Player, spawn: Spawn) -> bool:
        return self.combat.fights.may_fight(player, spawn)

    def _spell_scripts(self) -> SpellScripts:
        return NO_SPELL_SCRIPTS if self.scripts is None else self.scripts.spell_calls

    def _make_quests(self) -> None:
        def race_of(spawn: Spawn) -> int:
            races = self.scripts.figures.races if self.scripts is not None else {}
            return races.get(int(spawn.appearance.get("model_type") or 0), 0)

        self.quests = QuestParts(
            self.items, self.chat, self.ports.quests, self.minds.conversations,
            roll=self.ports.roll, race_of=race_of,
            give_experience=self._give_experience, give_trade=self._give_trade,
            sharers=self._sharers,
        )  # fmt: skip
        self.subjects = (*self.subjects, JournalCommands(self.quests, self.crafting.collecting))

    def _has_quest(self, player: Player, quest: int) -> bool:
        return self.quests.has_or_had(player, quest)

    def _sharers(self, event: Died) -> list[Player]:
        return self.combat.rewards.sharers(event)

    def _make_context(self) -> CommandContext:
        return CommandContext(
            world=self.world,
            chat=self.chat,
            admission=self.admission,
            departures=self.departures,
            account_changes=self.account_changes,
            sheets=self.sheets,
            roll=self.ports.roll,
            behaviors=self.behaviors,
            population=self.population,
            zone_files=ZoneFiles(self.ports.atlas, self.ports.zones_folder),
            memberships=self.memberships,
            mail=self.mail,
            report=self.petitions.open,
            ledger=self.ledger,
            items=self.items,
            item_acts=self.item_acts,
            trading=self.trading,
            script_errors=self.minds.errors,
            combat=self.combat,
            spells=self.spells,
            has_mind=self.minds.hearing.has_mind,
            way_back=self.travel.returning.way_back,
            show_way=self.travel.waypoints.show_way,
            edits=self.edits,
            grounds=self.grounds,
            answer=self.ports.answer,
        )

    def _make_handlers(self) -> None:
        world, departures = self.world, self.departures
        forms = GhostForms(
            self.ports.forms,
            self.ports.stand_ins,
            lambda: (player.client.dialect for player in world.players),
        )
        self.entries = ZoneEntries(
            world, departures, self.account_changes, self.sheets, self.remote,
            forms=forms, items=self.items, copy_of=self.travel.instances.copy_of,
            sent_back=self.travel.instances.sent_back,
            first_hotkeys=self.spells.books.first_hotkeys, crafts=self.crafting,
            send_quests=self.quests.journals.send_all, send_spells=self.spells.books.send_first,
            send_standings=lambda player: send_standings(player, world.knowledge.factions),
        )  # fmt: skip
        self.interaction = Interaction(world, self.travel.journeys.send, self.remote)
        self.movement = MovementRequests(
            world,
            departures.stop_camp,
            moved=(
                self.interaction.uses.moved,
                self.skills.moved,
                self.quests.counting.moved,
                self.spells.casts.moved,
                self.combat.hazards.moved,
            ),
            carriers=self.travel.rides,
            way_back=self.travel.returning.way_back,
            grounds=self.grounds,
        )
        self.service = WorldService(
            world, self.messages, self.entries, departures,
            admission=self.admission, items=self.items, books=self.spells.books,
        )  # fmt: skip

    def _give_experience(self, player: Player, points: int) -> None:
        self.combat.rewards.give(player, points, self.ports.clock.now())

    def _art(self, spell_id: int) -> int | None:
        kind = self.ports.spell_kinds.get(spell_id)
        return kind.icon if kind is not None and kind.book is SpellBook.TRADESKILL else None

    def _cast_on_itself(self, player: Player, spell_id: int) -> bool:
        return self.spells.cast_on_itself(player, spell_id)

    def _give_trade(self, player: Player, points: int) -> None:
        self.levels.gain_trade(player, points, self.ports.clock.now())

    def _despawn(self, zone: Zone, spawn: Spawn) -> None:
        self.population.content.despawn(zone, spawn)

    def _connect(self, commands: Registry) -> None:
        """Let every component add its messages, commands and subscriptions."""
        for one in (
            self.entries, self.departures, self.movement, self.interaction, self.remote,
            self.minds.conversations, self.travel, self.mail, self.item_acts, self.trading.looting,
            self.spells.windows, ClientRecords(self.world), self.combat.hazards,
        ):  # fmt: skip
            one.register(self.messages)
        commands.extend(world_commands(self.context))
        for subject in self.subjects:
            subject.register(self.messages)
            commands.extend(subject.COMMANDS.commands(subject))
        commands.known |= {"player": self._player_names, "zone": self._zone_names}
        self.population.subscribe(self.behaviors)
        content, scripts = self.population.content, self.scripts
        content.watchers += [
            self.travel, self.housing, self.trading.loots, self.combat.creatures, self.crafting,
            self.quests, self.spells,
        ]  # fmt: skip
        if self.ports.record.is_on:
            content.watchers.append(self.ports.record)
        self.ports.record.join(self.world, commands, self.remote)
        if scripts is not None:
            content.listener = scripts
            PlayerRegions(
                scripts.regions, scripts.homes, grounds=self.grounds, events=self.world.events,
                timetable=self.timetable, now=self.world.clock.now,
            )  # fmt: skip
        world, departures = self.world, self.departures
        subscribe = world.events.subscribe
        subscribe(RankChanged, lambda event: self.remote.send_table(event.player))
        subscribe(Arrived, self.chat.enter_again)
        subscribe(LeftWorld, self.chat.leave_all)
        subscribe(LoggedOut, self.chat.logged_out)
        subscribe(PlayedElsewhere, lambda event: departures.lose(event.player, world.clock.now()))
        subscribe(HidingChanged, self.chat.hidden_changed)
        subscribe(Died, lambda event: content.died(event.zone, event.victim))

    def _player_names(self, caller: Caller) -> list[str]:
        return [one.name for one in self.world.players if may_see(caller.rank, one.spawn)]

    def _zone_names(self, _caller: Caller) -> list[str]:
        return [zone.name for zone in self.world.zones.table]
