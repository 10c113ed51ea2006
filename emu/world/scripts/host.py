"""The host of Lua scripts: binds files to spawns and zones, and passes on what happens to them.

A file is loaded when the first spawn needs it. Nothing runs while no player is in the zone.
Source: docs/guides/lua.md#events.
"""

from __future__ import annotations

import enum
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Final

from emu.content.figures import Figures
from emu.content.rules import RuleName
from emu.content.standing import Standing
from emu.errors import ScriptError
from emu.scripts.compiling import Compiling
from emu.scripts.folder import ScriptFolder
from emu.scripts.own_time import OwnTime
from emu.scripts.signatures import FunctionTable
from emu.times import Monotonic
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.combat.shards import Shards
from emu.world.conversations import DialogPage
from emu.world.deadlines import Deadlines
from emu.world.events import (
    Arrived,
    Boarded,
    Cast,
    Chosen,
    ClientLoaded,
    DialogAnswered,
    Died,
    Entered,
    FightOver,
    KillAsked,
    LeftWorld,
    LeftZone,
    MayHurt,
    MayUse,
    Order,
    Provoked,
    Signalled,
    Struck,
    Targeted,
    Thinks,
    Used,
    WidgetUsed,
)
from emu.world.item_events import NodeWorked
from emu.world.items.gifts import Gifts
from emu.world.items.items import Items
from emu.world.items.trading import Trading
from emu.world.levels import Levels
from emu.world.minds.moves import Mover
from emu.world.minds.shared import Minds
from emu.world.minds.shares import ScriptShares, Shares
from emu.world.quest_events import (
    QuestAccepted,
    QuestCompleted,
    QuestDropped,
    QuestEvent,
    QuestStepChanged,
)
from emu.world.quests.component import QuestParts
from emu.world.scripts.bodies import Body, Home, Homes, shown
from emu.world.scripts.calls import Calls, Chances
from emu.world.scripts.choices import SELECT, Choices
from emu.world.scripts.events import SpawnEvents, ZoneEvents
from emu.world.scripts.furniture import FurnitureScripts
from emu.world.scripts.grids import GridEvents
from emu.world.scripts.item_events import ItemEvents
from emu.world.scripts.letters import Letters
from emu.world.scripts.making import FilledZones, Maker
from emu.world.scripts.player_events import EVERYWHERE, PlayerEvents
from emu.world.scripts.quest_events import QuestScripts
from emu.world.scripts.regions import RegionEvents
from emu.world.scripts.spell_calls import SpellCalls
from emu.world.scripts.states import States
from emu.world.scripts.waits import Waits
from emu.world.sheets import CharacterSheets
from emu.world.social.chat import Chat
from emu.world.social.mail import Mail
from emu.world.spells.spells import Spells
from emu.world.travel.travel import Travel
from emu.world.world import World
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position

COLLECTION_PAUSE: Final = 0.02
"""Seconds between two steps of freeing what scripts had, in which sessions are served."""
FORGOTTEN_AT_ONCE: Final = 20
"""Spawns of an ended zone between two looks at the clock; each takes up to 50 microseconds."""
REPORTED_AGAIN: Final = 60.0
"""Seconds until it is reported again that the calls of a file wait for their share."""
MOST_REPORTED: Final = 500
LOOK: Final = 1.0
"""Seconds between two looks for changed files."""
SEEN_AT_ONCE: Final = 10
"""Files at which one turn looks, with up to 50 microseconds for each: 500 files in a second."""
_UNNAMED: Final = re.compile("[^A-Za-z0-9]")
"""What a spawn's name has and the name of its script has not."""

SHARD_SCRIPT: Final[RuleName] = ("R_Combat", "SpiritShardSpawnScript")
"""The rule of the content file with the script for spirit shards."""


def script_named(zone: str, spawn: str) -> str:
    """Return the name of the script of a spawn that no row binds, by its zone and its own name."""
    return f"SpawnScripts/{zone}/{_UNNAMED.sub('', spawn)}.lua"


class Chore(enum.Enum):
    """What the host does for its scripts at a time."""

    LOOK = enum.auto()
    """Begins to look for changed files."""
    RENEW = enum.auto()
    """Looks at some of them, and reads those anew that have changed."""
    FORGET = enum.auto()
    """Forgets some spawns of a zone that has ended."""
    CALL = enum.auto()
    """Carries out calls that have waited for a file."""
    KEEP = enum.auto()
    """Drops files; once for all zones that end together, since it looks at each running spawn."""
    COLLECT = enum.auto()
    """Frees some of what their scripts had."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptParts:
    """The components of a world that scripts use; `Assembly.script_parts` names them."""

    world: World
    chat: Chat
    minds: Minds
    travel: Travel
    """Doors, transporters and places."""
    mail: Mail
    items: Items
    trading: Trading
    quests: QuestParts
    spells: Spells
    sheets: CharacterSheets
    shards: Shards
    functions: Sequence[FunctionTable]
    """The functions that scripts can call."""
    spent: OwnTime
    """Measures the calls."""


class Scripts(Calls):
    """The scripts of a world."""

    def __init__(
        self,
        parts: ScriptParts,
        folder: ScriptFolder,
        *,
        chances: Chances,
        report: Callable[[str], object],
        zones: FilledZones | None,
        figures: Figures | None = None,
        shares: ScriptShares | None = None,
        collected: Callable[[], object] = lambda: None,
        compiling: Compiling | None = None,
    ) -> None:
        """Make the runtime and subscribe to a world's events.

        `zones` are those of the content file; without them nothing can be made. `report` writes a
        line for operators. `collected` is called when what the scripts of an ended zone had is
        freed. Raises `ConfigError` if lupa is not installed.
        """
        super().__init__(
            folder,
            parts.functions,
            faults=parts.world.faults,
            reports=parts.minds.errors,
            chances=chances,
            report=report,
            compiling=compiling,
            spent=parts.spent,
        )
        self.figures = figures or Figures()
        """Rules, variables and tables of the content file."""
        self.maker = Maker(zones=zones, now=parts.world.clock.now)
        self.collected = collected
        self._ending: deque[Home] = deque()
        """Zones that have ended, and of which not all spawns are forgotten yet."""
        self._reported: dict[str, Monotonic] = {}
        """When it was reported last that a file has used up its share."""
        self._bound: dict[Spawn, Callable[[Spawn], object]] = {}
        """What removes a spawn that no content file has placed, and that has a script."""
        self.titles: dict[str, bool] = {}
        """Titles that scripts have added; whether each stands before the name."""
        self._keep_parts(parts)
        self._make_engines(parts, shares or ScriptShares())
        self._hear_spawns()
        self._hear_fights()
        self._hear_quests()
        self._hear_entries()

    def _keep_parts(self, parts: ScriptParts) -> None:
        """Keep what the functions use."""
        self.world, self.chat, self.travel = parts.world, parts.chat, parts.travel
        self.mail, self.spells, self.shards = parts.mail, parts.spells, parts.shards
        self.items_of_players, self.trading = parts.items, parts.trading
        self.quests, self.feathers = parts.quests.quests, parts.quests.feathers
        """The quests of players, and the marks over those who give them."""
        self.conversations, self.moves, self.grounds = (
            parts.minds.conversations, parts.minds.moves, parts.minds.grounds,
        )  # fmt: skip
        self.levels = Levels(self.world, self.chat, self.figures.experience, parts.sheets)
        self.gifts = Gifts(parts.items, self.counters)
        self.letters = Letters(
            start=self.world.start, timetable=self.world.timetable, now=self.world.clock.now,
            counters=self.counters,
        )  # fmt: skip

    def _make_engines(self, parts: ScriptParts, shares: ScriptShares) -> None:
        """Make what calls the scripts of each subject."""
        world, minds = self.world, parts.minds
        events, timetable, now = world.events, world.timetable, world.clock.now
        self._chores: Deadlines[str, Chore] = timetable.deadlines(
            "the chores of scripts", self._do_chore
        )
        self.homes = Homes(world.players)
        self.shares = Shares(shares, timetable, now, self._slowed, self.counters)
        self.used, self.has_share = self.shares.used, self.shares.may_send
        self.waits = Waits(
            calls=self, homes=self.homes, shares=self.shares, minds=minds, despawn=self.despawn
        )
        self.events = SpawnEvents(self, self.homes)
        minds.hearing.add_engine(self.events)
        self.states = States(
            events=self.events, waits=self.waits, harm=minds.harm, sheets=parts.sheets
        )
        self.choices = Choices(self.talk)
        self.items = ItemEvents(self, self.homes, events, minds.conversations)
        FurnitureScripts(self.homes, self.items, events, self._forget)
        self.spell_calls = SpellCalls(self, self.homes)
        self.quest_scripts = QuestScripts(self, self.homes, parts.quests)
        parts.quests.journals.add_engine(self.quest_scripts, has_scripts=True)
        self.regions = RegionEvents(
            calls=self, homes=self.homes, shares=self.shares, events=events, timetable=timetable,
            now=now,
        )  # fmt: skip
        grids = GridEvents(
            calls=self, homes=self.homes, shares=self.shares, walks=minds.moves.walks,
            events=events, timetable=timetable, now=now,
        )  # fmt: skip
        self.zones = ZoneEvents(
            calls=self, homes=self.homes, shares=self.shares, waits=self.waits, clock=world.clock,
            grids=grids, timetable=timetable,
        )  # fmt: skip
        PlayerEvents(self, self.homes, events)

    def _hear_spawns(self) -> None:
        """Hear of answers, and of what players do with spawns."""
        subscribe, events = self.world.events.subscribe, self.events
        subscribe(DialogAnswered, self.answered, Order.MINDS)
        subscribe(Chosen, self.chosen, Order.MINDS)
        subscribe(Targeted, events.targeted, Order.MINDS)
        subscribe(MayUse, events.is_asked, Order.MINDS)
        subscribe(Used, events.uses, Order.MINDS)
        subscribe(NodeWorked, events.worked_on, Order.MINDS)
        subscribe(WidgetUsed, events.door_used, Order.MINDS)
        subscribe(Boarded, events.boarded, Order.MINDS)

    def _hear_fights(self) -> None:
        subscribe, events = self.world.events.subscribe, self.events
        subscribe(KillAsked, self._kill_asked, Order.OWNER)
        subscribe(Provoked, self.provoked, Order.MINDS)
        subscribe(MayHurt, events.may_hurt, Order.MINDS)
        subscribe(Struck, events.has_struck, Order.MINDS)
        subscribe(Cast, events.casted_on, Order.MINDS)
        subscribe(Thinks, events.thinks, Order.MINDS)
        subscribe(FightOver, events.fight_over, Order.MINDS)
        # Before the loot falls: functions of a death change it.
        subscribe(Died, self.states.died, Order.OWNER)

    def _hear_quests(self) -> None:
        subscribe = self.world.events.subscribe
        for kind in (QuestAccepted, QuestStepChanged, QuestCompleted, QuestDropped):
            subscribe(kind, self._quest_changed, Order.MINDS)
        subscribe(LeftWorld, lambda event: self.quest_scripts.left(event.player), Order.MINDS)

    def _hear_entries(self) -> None:
        """Hear of players who come to a zone and leave it, and of their clients."""
        subscribe = self.world.events.subscribe
        subscribe(Arrived, lambda event: self.zones.arrived(event.player), Order.MINDS)
        subscribe(Entered, lambda event: self.entered(event.player), Order.MINDS)
        subscribe(ClientLoaded, self.zones.has_loaded, Order.MINDS)
        subscribe(Signalled, self.zones.signalled, Order.MINDS)
        subscribe(LeftZone, lambda event: self.left(event.player), Order.MINDS)

    def reload(self) -> str:
        """Read all files anew when they are next needed; quests are rebuilt at once."""
        line = super().reload()
        self.quests.journals.reload()
        return line

    def renewed(self, path: str) -> None:
        """Rebuild the quests whose script has changed."""
        self.quests.journals.reload(path)

    def _quest_changed(self, event: QuestEvent) -> None:
        """Show and hide spawns that require a quest of a player."""
        player = event.player
        home = self.homes.get(player.zone)
        if home is not None:
            home.requirements.update(self.homes.player(player))
        if isinstance(event, QuestCompleted | QuestDropped):
            self.quest_scripts.end(player, event.quest)

    # -- spawns and zones of the content file -----------------------------------------------------

    def zone_starts(self, zone: Zone) -> None:
        """Handle a zone whose content is about to be read."""
        self.zones.starts(zone)

    def zone_is_read(self, zone: Zone, script: str) -> None:
        """Handle a zone whose content was read: `script` is what its row names."""
        self.zones.is_read(zone, script)

    def zone_is_ready(self, zone: Zone) -> None:
        """Handle a zone in which all spawns of the content file stand."""
        self.zones.is_ready(zone)

    def prepared(self, zone: Zone, spawn: Spawn, standing: Standing) -> None:
        """Bind a spawn to its script before it is put into its zone, and call `prespawn`."""
        home = self.homes.of(zone)
        script = standing.entry.script or self._script_named(home, spawn.name)
        body = Body(spawn, home, standing=standing, script=script)
        home.add_body(body)
        self.call(body, "prespawn")

    def appeared(
        self, zone: Zone, spawn: Spawn, standing: Standing, *, is_back: bool = False
    ) -> None:
        """Call `spawn` of a spawn that was put into its zone, or `respawn` if it is back."""
        home = self.homes.of(zone)
        if spawn.id not in home.bodies:
            self.prepared(zone, spawn, standing)
        self.call(home.bodies[spawn.id], "respawn" if is_back else "spawn")

    def shard_stands(self, zone: Zone, spawn: Spawn, gone: Callable[[Spawn], object]) -> bool:
        """Bind a spirit shard to the script of the content file's rule, and call its `spawn`.

        `gone` removes the shard when the script does. Return False without such a script.
        """
        script = self.files.find(self.figures.rules.get(SHARD_SCRIPT, ""))
        if not script or self.files.has_file(script) is False:
            return False
        home = self.homes.of(zone)
        body = Body(spawn, home, script=script)
        home.add_body(body)
        self._bound[spawn] = gone
        self.call(body, "spawn")
        return True

    def despawn(self, zone: Zone, spawn: Spawn) -> None:
        """Remove a spawn from its zone, as a script has asked."""
        gone = self._bound.get(spawn)
        if gone is not None:
            gone(spawn)
        elif self.maker.zones is not None:
            self.maker.zones.despawn(zone, spawn)

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """End the handle of a spawn that has left its zone."""
        self._bound.pop(spawn, None)
        home = self.homes.get(zone)
        body = home.bodies.get(spawn.id) if home is not None else None
        if body is not None:
            self._forget(body)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends: its spawns a slice at a time.

        Nobody is in it, so its timers and ways rest meanwhile. To forget thousands of spawns at
        once would keep the players of other zones waiting.
        """
        home = self.homes.pop(zone)
        if home is not None:
            self._ending.append(home)
            self._chores.set("", Chore.FORGET, self.now)

    def _forget_slice(self, now: Monotonic) -> None:
        """Forget some spawns of the first zone that has ended."""
        home = self._ending[0]
        while home.bodies:
            for body in list(islice(home.bodies.values(), FORGOTTEN_AT_ONCE)):
                self._forget(body)
            if not self._may_work():
                break
        if not home.bodies:
            self._ending.popleft()
            self.waits.forget(home)
            self.moves.ended(home.zone)
            self.zones.ended(home)
            home.end()
            if not self._ending:
                self._chores.set("", Chore.KEEP, now)
        if self._ending:
            self._chores.set("", Chore.FORGET, Monotonic(now + COLLECTION_PAUSE))

    def _may_work(self) -> bool:
        return self.world.timetable.may_work(self.now)

    def _scripts_in_use(self) -> set[str]:
        """Return the names of the scripts of all running zones and their spawns."""
        homes = [*self.homes, *self._ending]
        used = {EVERYWHERE, *(home.script for home in homes)}
        used.update(body.script for home in homes for body in home.bodies.values())
        return used

    def _script_named(self, home: Home, name: str) -> str:
        """Return the script of a spawn that no row binds: it has the spawn's name."""
        return self.files.find(script_named(home.name, name))

    def _forget(self, body: Body) -> None:
        self.waits.forget(body)
        self.moves.forget(body.spawn, body.home.zone)
        self.regions.forget(body)
        self.conversations.forget_owner(body)
        body.home.remove(body)

    def mover(self, body: Body) -> Mover:
        """Return what moves a spawn or a player; way points call functions of its script."""
        return self.moves.of(
            body.spawn, body.home.zone,
            lambda mark: self.shares.do(body.script, partial(self.call, body, mark)),
            player=body.player,
        )  # fmt: skip

    def _kill_asked(self, event: KillAsked) -> None:
        zone = event.player.zone
        body = self.body_of(event.target, zone)
        if body is not None:
            self.states.kill(body, self.body_of(event.player.spawn, zone))
            event.done_by.append("scripts")

    def provoked(self, event: Provoked) -> None:
        """Call the functions of a creature that begins to fight; its walk keeps its marks."""
        body = self.homes.body(event.spawn, event.zone)
        if body is not None and event.foe is not None:
            self.mover(body)
            self.events.aggro(event.zone, event.spawn, event.foe)
            self.events.attacked(event.zone, event.spawn, event.foe)

    def body_of(self, spawn: Spawn, zone: Zone) -> Body | None:
        """Return a spawn of the content file, or a player, as scripts have it."""
        return self.homes.body(spawn, zone)

    def player_body(self, player: Player) -> Body:
        """Return the one body of a player in its zone."""
        return self.homes.player(player)

    def players_in(self, home: Home) -> list[Player]:
        """Return the players who stand in a zone."""
        return self.homes.players_in(home)

    # -- events of the world ----------------------------------------------------------------------

    def chosen(self, event: Chosen) -> None:
        """Answer a command that a window of a script may have sent, with the text behind it.

        A row of a window of options names a function of the script. The text of a question is
        passed to `casted_on`.
        """
        player, text = event.player, event.text
        asker = self.choices.asker(player, event.command)
        if asker is not None:
            self.call(asker, "casted_on", self.player_body(player), text)
            return
        # EQ2Emulator takes the first word for the number of a spawn.
        row = text.rsplit(maxsplit=1)[-1] if event.command == SELECT and text else ""
        speaker = self.choices.chosen(player, row) if row else None
        if speaker is not None and speaker.home.zone is player.zone:
            self.call(speaker, row, self.player_body(player))
        elif row:
            self.world.count("choice not offered")

    def entered(self, player: Player) -> None:
        """Let the scripts of a zone go on when a player stands there."""
        home = self.homes.get(player.zone)
        if home is not None:
            home.requirements.update(self.homes.player(player))
        self.zones.entered(player)

    def left(self, player: Player) -> None:
        """End the handle of a player who leaves a zone."""
        self.choices.forget(player)
        self.zones.left(player)
        for home in self.homes:
            body = home.players.pop(player.id, None)
            if body is not None:
                self.waits.forget(body)
                self.regions.forget(body)
                self.moves.forget(body.spawn, home.zone)
                home.requirements.forget(body)
                body.end()

    def talk(
        self, speaker: Body, player: Player, answers: Sequence[tuple[str, str]], page: DialogPage
    ) -> None:
        """Show a player a page with answers, each with the name of a function of the script."""
        texts = [(shown(text), function) for text, function in answers]
        page = replace(page, text=shown(page.text), voice=shown(page.voice))
        self.conversations.open(player, speaker.spawn, page, texts, owner=speaker)

    def answered(self, event: DialogAnswered) -> None:
        """Call the function of a player's answer."""
        speaker, player = event.owner, event.player
        if isinstance(speaker, Body) and speaker.home.zone is player.zone:
            self.call(speaker, event.reply, self.player_body(player))

    # -- time -------------------------------------------------------------------------------------

    def is_place(self, place: Position) -> bool:
        """Return whether a script may put something there."""
        farthest = self.world.rules.movement.farthest
        return all(abs(one) <= farthest for one in place[:3])

    def named_home(self, wanted: int | str) -> Home | None:
        """Return a zone by its number or name; one that does not run is empty.

        None if the world has no such zone.
        """
        table = self.world.zones.table
        definition = table.get(wanted) if isinstance(wanted, int) else table.named(wanted)
        if definition is None:
            return None
        # A zone is not started because a script names it: what scripts do with it, for instance
        # sending a player there, needs its number only.
        return self.homes.of_number(definition.id) or self.homes.absent(definition)

    @property
    def now(self) -> Monotonic:
        """The time of the world's clock."""
        return self.world.clock.now()

    def watch(self) -> None:
        """Look for changed files from now on, each second."""
        self._chores.set("", Chore.LOOK, Monotonic(self.now + LOOK))

    def failed(self, line: str) -> None:
        """Show an error to the game masters who asked for it."""
        for player_id in self.reports.hearers(self.now):
            player = self.world.players.get(player_id)
            if player is not None and player.is_online:
                self.chat.line(player, shown(line), "error")

    def have_awaited(self) -> None:
        """Carry out the calls that have waited for a file, some in each turn."""
        self._chores.set("", Chore.CALL, self.now)

    def _slowed(self, path: str, text: str) -> None:
        """Tell the author of a file, or of all of them, that its calls wait for their share."""
        reported = self._reported.get(path)
        if reported is not None and self.now < reported + REPORTED_AGAIN:
            return
        if len(self._reported) >= MOST_REPORTED:
            self._reported.clear()
        self._reported[path] = self.now
        error = ScriptError(path or "all scripts", 0, text)
        fault, _ = self.reports.count_error(error, "timers", "", path)
        self._report(str(fault))
        self.failed(str(fault))

    def _do_chore(self, _owner: str, chore: Chore, now: Monotonic) -> None:
        if chore is Chore.LOOK:
            self._chores.set("", chore, Monotonic(now + LOOK))
            self.files.look_again()
            self._chores.set("", Chore.RENEW, now)
        elif not self._may_work():
            self._chores.set("", chore, now)
        elif chore is Chore.RENEW:
            self.files.renew_some(SEEN_AT_ONCE)
            if self.files.has_unseen:
                self._chores.set("", chore, Monotonic(now + COLLECTION_PAUSE))
        elif chore is Chore.FORGET:
            self._forget_slice(now)
        elif chore is Chore.KEEP:
            self.keep(self._scripts_in_use())
            self._chores.set("", Chore.COLLECT, now)
        elif chore is Chore.CALL:
            if not self.files.carry_out_some(self._may_work):
                self._chores.set("", chore, Monotonic(now + COLLECTION_PAUSE))
        elif self.files.collect_some(self._may_work):
            self.collected()
        else:
            self._chores.set("", chore, Monotonic(now + COLLECTION_PAUSE))
