"""`Journals`: the journals of the players of one world, with their plans, and what clients see.

A plan is read when it is first needed, and kept. The copies of a player are made when its journal
is first used in this process. Source: docs/guides/quests.md#journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from emu.content.rows import Row
from emu.errors import FileFormatError
from emu.items.kinds import ItemKind
from emu.model import SavedKind
from emu.quests.journal import Journal, TakenQuest
from emu.quests.plans import QuestPlan
from emu.quests.staged import StagedQuest
from emu.world.actors.player import IN_ZONE, Player, PlayerState
from emu.world.events import LeftWorld
from emu.world.items.items import Kinds
from emu.world.quest_events import QuestsDue
from emu.world.quests.engines import NoEngine, QuestEngine
from emu.world.quests.windows import (
    LIST,
    REPLY,
    JournalRow,
    PopUp,
    list_fields,
    reply_fields,
)
from emu.world.world import World

GONE_TITLE: Final = "Quest {number}"
GONE_CATEGORY: Final = "Missing"
GONE_TEXT: Final = "This quest is not on this server now. Your progress is kept."


class QuestContent(Protocol):
    """The quests of a world; `emu.content.quests.QuestTables` has them."""

    @property
    def staged(self) -> Mapping[int, StagedQuest]:
        """Those of files, by number."""

    def plan(self, number: int) -> QuestPlan | None:
        """Return a new plan of a quest, without the steps of a script."""

    def faction(self, number: int) -> Row | None:
        """Return the row of a faction."""


class Journals:
    """The plans of one world's quests, and the journals of its players."""

    def __init__(self, world: World, kinds: Kinds, content: QuestContent) -> None:
        self.world = world
        self.content = content
        self._kinds = kinds
        self._masters: dict[int, QuestPlan | None] = {}
        self._rows: dict[int, QuestPlan] = {}
        """What the list shows of completed quests whose masters nobody has needed yet."""
        self._plain: QuestEngine = NoEngine()
        self._engines: list[tuple[bool, QuestEngine]] = []
        self._bound: dict[int, Journal] = {}
        """The journals whose quests have their plans, by character."""
        self.due: dict[int, list[int]] = {}
        """Quests whose scripts asked for their rewards when they were read, by character."""
        world.events.subscribe(LeftWorld, lambda event: self._forget(event.player))

    def add_engine(self, engine: QuestEngine, *, has_scripts: bool) -> None:
        """Let an engine give plans their steps: those with a script, or those of files."""
        self._engines.append((has_scripts, engine))

    def engine(self, plan: QuestPlan) -> QuestEngine:
        """Return the engine of a plan."""
        has_script = bool(plan.script)
        return next(
            (one for has_scripts, one in self._engines if has_scripts == has_script), self._plain
        )

    # -- plans ----------------------------------------------------------------------------------

    def plan(self, number: int) -> QuestPlan | None:
        """Return the master of a quest; None if there is none, or if its script fails."""
        if number in self._masters:
            return self._masters[number]
        try:
            plan = self.content.plan(number)
        except FileFormatError:
            self.world.count("quest that could not be read")
            return None
        has_begun = plan is not None and self.engine(plan).begin(plan)
        if has_begun is None:
            return None  # asked for again: its file is being compiled
        if plan is not None and not has_begun:
            self.world.count("quest whose script fails")
        self._masters[number] = plan if has_begun else None
        return self._masters[number]

    def reload(self, script: str = "") -> int:
        """Read plans anew when they are next needed, all or those of a script; return how many.

        Players keep their progress: their copies are rebuilt from it.
        """
        old = [
            number for number, plan in self._masters.items()
            if not script or plan is None or plan.script == script
        ]  # fmt: skip
        for number in old:
            del self._masters[number]
        self._rows.clear()
        changed = set(old)
        for player in self.world.players:
            journal = self._bound.get(player.id)
            affected = [
                one for one in (journal.open.values() if journal is not None else ())
                if one.number in changed or one.plan is None
            ]  # fmt: skip
            for taken in affected:
                self._bind(player, taken)
            if affected and sees(player):
                self.send_list(player)
            if affected and player.id in self.due:
                self.world.events.publish(QuestsDue(player))
        return len(old)

    def kind(self, number: int) -> ItemKind | None:
        """Return the kind of a thing that a quest names."""
        return self._kinds.get(number)

    def faction_name(self, number: int) -> str:
        """Return the name of a faction; empty if nothing describes it."""
        row = self.content.faction(number)
        return str(row["name"]) if row is not None else ""

    # -- journals -------------------------------------------------------------------------------

    def of(self, player: Player) -> Journal:
        """Return a player's journal, whose quests have their plans.

        An act that ends after its player has left may ask too: then nothing is kept.
        """
        journal = player.journal
        if self._bound.get(player.id) is not journal and player.state is not PlayerState.GONE:
            # Noted first: scripts that rebuild a plan ask for the journal.
            self._bound[player.id] = journal
            for taken in list(journal.open.values()):
                self._bind(player, taken)
        return journal

    def _bind(self, player: Player, taken: TakenQuest) -> None:
        """Give a taken quest a plan of its own, as far as its progress goes."""
        master = self.plan(taken.number)
        if master is None:
            taken.plan = None
            self.world.count("quest of a player that is gone")
            return
        is_due = self._restore(player, taken, master)
        # An import knows counts, but not which steps they end: each may add the next ones.
        while not taken.known and taken.settle():
            is_due = self._restore(player, taken, master)
        if is_due:
            self.due.setdefault(player.id, []).append(taken.number)

    def _restore(self, player: Player, taken: TakenQuest, master: QuestPlan) -> bool:
        """Build the plan of a taken quest from its progress; return whether its reward is due."""
        taken.plan = master.copy()
        if taken.flags is not None:
            taken.plan.flags = taken.flags
        return self.engine(master).restored(player, taken)

    def _forget(self, player: Player) -> None:
        self._bound.pop(player.id, None)
        self.due.pop(player.id, None)

    def changed(self, player: Player) -> None:
        """Store a journal soon."""
        self.world.saves.changed(player, SavedKind.QUESTS, self.world.clock.now())

    def set_visible(self, player: Player, number: int, *, is_visible: bool) -> None:
        """Show a quest in the list of the client's journal, or hide it."""
        taken = self.of(player).open.get(number)
        if taken is None:
            self.world.count("quest unknown")
        elif taken.is_hidden is is_visible:
            taken.is_hidden = not is_visible
            self.changed(player)

    def set_tracked(self, player: Player, number: int, *, is_tracked: bool | None = None) -> None:
        """Let the client's helper show a quest; None turns it round."""
        taken = self.of(player).open.get(number)
        if taken is None:
            self.world.count("quest unknown")
            return
        wanted = not taken.is_tracked if is_tracked is None else is_tracked
        if wanted is not taken.is_tracked:
            taken.is_tracked = wanted
            self.changed(player)

    # -- what clients see -----------------------------------------------------------------------

    def entry(self, taken: TakenQuest, **states: bool) -> JournalRow:
        """Return a quest for the list; one whose plan is gone says so."""
        return JournalRow(taken, taken.plan or _gone(taken.number), **states)

    def send_all(self, player: Player) -> None:
        """Send a client that enters the whole journal: the list, then all of each open quest.

        This list alone has the completed quests, too, in the order of their numbers (recorded).
        """
        journal = self.of(player)
        taken = [
            *journal.open.values(),
            *(
                TakenQuest(number, one.last) for number, one in journal.completed.items()
                if number not in journal.open
            ),
        ]  # fmt: skip
        entries = [
            self.entry(one, is_new_state=False) if one.number in journal.open
            else self._completed(one)
            for one in sorted(taken, key=lambda one: one.number)
        ]  # fmt: skip
        player.client.send(LIST, list_fields(player, entries, used=len(journal.open)))
        for one in list(journal.open.values()):
            self.send_quest(player, self.entry(one))

    def _completed(self, taken: TakenQuest) -> JournalRow:
        """Return a completed quest for the list: its row is enough, and its script does not run."""
        number = taken.number
        plan = self._masters.get(number) or self._rows.get(number)
        if plan is None:
            try:
                plan = self.content.plan(number) or _gone(number)
            except FileFormatError:
                plan = _gone(number)
            self._rows[number] = plan
        return JournalRow(taken, plan, is_turned_in=True, is_new_state=False)

    def send_list(self, player: Player) -> None:
        """Send a client the list of the open quests."""
        journal = self.of(player)
        entries = [self.entry(one) for one in journal.open.values()]
        player.client.send(LIST, list_fields(player, entries, used=len(entries)))

    def send_row(self, player: Player, one: JournalRow, *, is_shown: bool = True) -> None:
        """Send a client the list with one quest alone."""
        used = len(self.of(player).open) + (not one.is_active)
        shown = one.taken.number if is_shown else 0
        player.client.send(LIST, list_fields(player, [one], shown=shown, used=used))

    def send_quest(self, player: Player, one: JournalRow, pop_up: PopUp | None = None) -> None:
        """Send a client one quest with all of its texts."""
        ends = [end for step, end in one.taken.ends.items() if one.taken.is_open(step)]
        left = max(0, round(min(ends) - self.world.clock.moment())) if ends else 0
        fields = reply_fields(
            player, one, self.kind, self.faction_name, pop_up=pop_up, seconds=left
        )
        player.client.send(REPLY, fields)

    def show(self, player: Player, taken: TakenQuest, pop_up: PopUp | None = None) -> None:
        """Show a client that a quest has changed: its row, then all of it."""
        if not sees(player):
            return
        one = self.entry(taken)
        self.send_row(player, one)
        self.send_quest(player, one, pop_up)

    def inspect(self, player: Player, number: int) -> None:
        """Answer a client that opens a quest of its journal."""
        taken = self.of(player).open.get(number)
        if taken is None:
            self.world.count("quest unknown")
        else:
            self.send_quest(player, self.entry(taken))


def sees(player: Player) -> bool:
    """Return whether a player's client is there and in the zone."""
    return player.is_online and player.state in IN_ZONE


def _gone(number: int) -> QuestPlan:
    """Return what is shown of a quest that is not there any more."""
    return QuestPlan(
        number, GONE_TITLE.format(number=number), GONE_CATEGORY, GONE_CATEGORY,
        description=GONE_TEXT,
    )  # fmt: skip
