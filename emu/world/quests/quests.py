"""`Quests`: what happens to the quests of the players of one world.

Scripts, steps that count and commands of players call it. What scripts ask for takes effect in the
player's next turn, as scripts expect. Source: docs/guides/quests.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from emu.errors import CommandError
from emu.quests.journal import MOST_PENDING, MOST_QUESTS, NO_ENDS, Journal, Progressed, TakenQuest
from emu.quests.needs import NO_NEEDS, Candidate, are_met
from emu.quests.plans import QuestPlan
from emu.times import Moment, Monotonic
from emu.world.actors.client import ERROR_COLOR, send_text
from emu.world.actors.player import IN_ZONE, Player, Relation
from emu.world.deadlines import Deadlines
from emu.world.events import (
    Entered,
    LeftWorld,
)
from emu.world.quest_events import (
    QuestAccepted,
    QuestCompleted,
    QuestDropped,
    QuestOffered,
    QuestsDue,
    QuestStepChanged,
)
from emu.world.quests.journals import Journals, sees
from emu.world.quests.rewards import QuestRewards
from emu.world.quests.windows import OFFER, JournalRow, PopUp, offer_fields
from emu.world.world import World

MOST_QUEUED: Final = 500
"""Acts of scripts that wait for one player's next turn."""
MOST_OFFERED: Final = 20
"""Offers of one player that wait for an answer; the oldest ends for the next one."""
FULL: Final = "You cannot have more than {number} quests."
WAITING: Final = "Take the rewards that wait for you first."
NOT_DELETABLE: Final = "You cannot give up this quest."


class Quests:
    """The quests of one world's players."""

    def __init__(
        self, world: World, journals: Journals, rewards: QuestRewards,
        standing: Callable[[Player, int], int],
    ) -> None:  # fmt: skip
        """`standing` returns what a faction thinks of a player."""
        self.world = world
        self.journals = journals
        self.rewards = rewards
        self._standing = standing
        self._queued: dict[int, deque[Callable[[], object]]] = {}
        self._turns: Deadlines[Player, str] = world.timetable.deadlines(
            "acts of scripts on quests", self._turn
        )
        self._ends: Deadlines[Player, tuple[int, int]] = world.timetable.deadlines(
            "times of steps", self._time_over
        )
        self._touched: dict[int, set[int]] = {}
        """Quests whose texts scripts have changed, by character."""
        world.events.subscribe(Entered, self._entered)
        world.events.subscribe(QuestsDue, self._read_anew)
        world.events.subscribe(LeftWorld, lambda event: self._left(event.player))

    def journal(self, player: Player) -> Journal:
        """Return a player's journal."""
        return self.journals.of(player)

    # -- offers ---------------------------------------------------------------------------------

    def may_take(self, player: Player, number: int) -> bool:
        """Return whether a player may take a quest now: it has what the quest asks for."""
        return self.criteria(player, number) != 0

    def criteria(self, player: Player, number: int) -> int | None:
        """Return 0 if a player may not take a quest now, for instance for lack of a level.

        Any other number is the mark that the quest's script wants; None: the quest's own.
        """
        plan = self.journals.plan(number)
        if plan is None or not self.journal(player).may_take(plan):
            return 0
        if plan.needs is not NO_NEEDS and not are_met(plan.needs, self.candidate(player)):
            return 0
        return self.journals.engine(plan).criteria(player, plan)

    def candidate(self, player: Player) -> Candidate:
        """Return a player as quests ask for it."""
        one, looks = player.character, player.spawn.appearance
        return Candidate(
            player.spawn.level, int(looks.get("class") or one.class_),
            int(looks.get("race") or one.race), int(looks.get("model_type") or 0),
            one.tradeskill_level, one.tradeskill_class, partial(self._standing, player),
            self.journal(player).completed.__contains__,
        )  # fmt: skip

    def offer(
        self, player: Player, number: int, giver: int = 0, *, is_forced: bool = False
    ) -> bool:
        """Offer a player a quest, with a window unless it is forced; return False if it has it.

        What a quest asks for is the giver's question: a script may offer it all the same.
        """
        plan = self.journals.plan(number)
        journal = self.journal(player)
        if plan is None or not journal.may_take(plan):
            if plan is not None and len(journal.open) >= MOST_QUESTS and sees(player):
                send_text(player.client, FULL.format(number=MOST_QUESTS), ERROR_COLOR)
            return False
        journal.offered.pop(number, None)
        while len(journal.offered) >= MOST_OFFERED:
            del journal.offered[next(iter(journal.offered))]
        journal.offered[number] = giver
        if is_forced or player.client.dialect.world_rules.quests_without_offer:
            self.accept(player, number)
        elif sees(player):
            fields = offer_fields(
                player, plan, self.journals.kind, self.journals.faction_name
            )  # fmt: skip
            player.client.send(OFFER, fields)
            self.world.events.publish(QuestOffered(player, number))
        return True

    def accept(self, player: Player, number: int) -> bool:
        """Take a quest that was offered; return False if none was."""
        journal, plan = self.journal(player), self.journals.plan(number)
        if number not in journal.offered or plan is None or not journal.may_take(plan):
            self.world.count("quest that was not offered")
            return False
        giver = journal.offered.pop(number)
        taken = journal.take_quest(plan, giver, self.world.clock.moment())
        self.journals.changed(player)
        self.journals.engine(plan).accepted(player, taken)
        if journal.open.get(number) is taken:
            self._forget_touched(player, number)
            if sees(player):
                self.journals.send_row(player, JournalRow(taken, taken.plan or plan, is_new=True))
                self.journals.send_quest(player, self.journals.entry(taken))
            self.world.events.publish(QuestAccepted(player, number))
        return True

    def decline(self, player: Player, number: int) -> bool:
        """Refuse a quest that was offered; return False if none was."""
        journal = self.journal(player)
        if number not in journal.offered:
            self.world.count("quest that was not offered")
            return False
        giver = journal.offered.pop(number)
        plan = self.journals.plan(number)
        if plan is not None:
            self.journals.engine(plan).declined(player, plan, giver)
        return True

    def drop(self, player: Player, number: int, *, is_forced: bool = False) -> bool:
        """Give a quest up; return False if the player does not have it, or must keep it."""
        journal = self.journal(player)
        taken = journal.open.get(number)
        if taken is None:
            self.world.count("quest unknown")
            return False
        plan = taken.plan
        if plan is not None and not plan.is_deletable and not is_forced:
            if sees(player):
                send_text(player.client, NOT_DELETABLE, ERROR_COLOR)
            return False
        if plan is not None:
            self.journals.engine(plan).dropped(player, taken)
        entry = self.journals.entry(taken, is_active=False)
        journal.drop(number)
        for step in taken.ends:
            self._ends.clear(player, (number, step))
        self._forget_touched(player, number)
        self.journals.changed(player)
        if sees(player):
            self.journals.send_row(player, entry)
            self.journals.send_list(player)
        self.world.events.publish(QuestDropped(player, number))
        return True

    # -- steps ----------------------------------------------------------------------------------

    def progress(
        self, player: Player, taken: TakenQuest, number: int, amount: int = 1, name: str = ""
    ) -> bool:
        """Count a step now; `name` is that of its subject. Returns False if nothing changed."""
        before = taken.count(number)
        result, added = taken.add_progress(number, amount)
        if result is Progressed.NOTHING or taken.plan is None:
            return False
        step = taken.plan.steps[number]
        # Noted first: things that an action moves are stored in one transaction with the step.
        self.journals.changed(player)
        self.journals.engine(taken.plan).progressed(player, taken, step, added)
        if result is Progressed.DONE:
            return self._done(player, taken, number, before, name)
        self._changed(player, taken, PopUp(number, name))
        return True

    def complete(self, player: Player, taken: TakenQuest, number: int, name: str = "") -> bool:
        """End a step as done now; return False if it is not open."""
        before = taken.count(number)
        if not taken.complete(number):
            return False
        return self._done(player, taken, number, before, name)

    def _done(
        self, player: Player, taken: TakenQuest, number: int, before: int, name: str
    ) -> bool:  # fmt: skip
        plan = taken.plan
        assert plan is not None  # noqa: S101  # only a step of a plan can be done
        self._ends.clear(player, (taken.number, number))
        self.journals.changed(player)  # first, as in `progress`
        if not self.journals.engine(plan).done(player, taken, plan.steps[number]):
            # The step stays undone if what follows from it failed.
            taken.reset(number)
            taken.set_count(number, before)
            return False
        if taken.has_all_done:
            self.journals.engine(plan).completed(player, taken)
        if self.journal(player).open.get(taken.number) is taken:
            self._changed(player, taken, PopUp(number, name), is_done=True)
        return True

    def fail(self, player: Player, taken: TakenQuest, number: int) -> bool:
        """End a step as failed now; return False if it is not open."""
        if taken.plan is None or not taken.fail(number):
            return False
        self._ends.clear(player, (taken.number, number))
        self.journals.engine(taken.plan).failed(player, taken, taken.plan.steps[number])
        if self.journal(player).open.get(taken.number) is taken:
            self._changed(player, taken, PopUp(number, has_failed=True))
        return True

    def missed(self, player: Player, taken: TakenQuest, number: int) -> None:
        """Show that a step's chance was missed; nothing has changed."""
        if sees(player):
            one = self.journals.entry(taken)
            self.journals.send_quest(player, one, PopUp(number, has_failed=True))

    def _changed(
        self, player: Player, taken: TakenQuest, pop_up: PopUp, *, is_done: bool = False
    ) -> None:
        self._forget_touched(player, taken.number)
        self.journals.changed(player)
        self.journals.show(player, taken, pop_up)
        self.world.events.publish(
            QuestStepChanged(player, taken.number, pop_up.step, is_done)
        )  # fmt: skip

    def set_time(self, player: Player, taken: TakenQuest, number: int, seconds: int) -> None:
        """Give an open step so many seconds from now on; it fails when they are over."""
        if taken.is_open(number):
            taken.set_end(number, Moment(self.world.clock.moment() + seconds))
            self._watch(player, taken, number)
            self.journals.changed(player)

    def end_times(self, player: Player, taken: TakenQuest) -> None:
        """Let no step of a quest end by its time any more."""
        for number in [*taken.ends]:
            self._ends.clear(player, (taken.number, number))
        taken.ends = NO_ENDS
        self.journals.changed(player)

    def _watch(self, player: Player, taken: TakenQuest, number: int) -> None:
        left = max(0.0, taken.ends[number] - self.world.clock.moment())
        due = Monotonic(self.world.clock.now() + left)
        self._ends.set(player, (taken.number, number), due)

    def _time_over(self, player: Player, name: tuple[int, int], _now: Monotonic) -> None:
        taken = self.journal(player).open.get(name[0])
        if taken is not None and name[1] in taken.ends:
            self.fail(player, taken, name[1])

    # -- completion -----------------------------------------------------------------------------

    def finish(self, player: Player, number: int) -> bool:
        """Complete a quest now, and give its reward; return False if the player lacks it."""
        journal = self.journal(player)
        taken = journal.open.get(number)
        if taken is None or taken.plan is None:
            return False
        if len(journal.pending) >= MOST_PENDING:
            # Its script asks for the reward again at the next login.
            if sees(player):
                send_text(player.client, WAITING, ERROR_COLOR)
            return False
        plan = taken.plan
        if plan.completed_text:
            plan.description = plan.completed_text
        self.end_times(player, taken)
        times = journal.finish(number, self.world.clock.moment())
        self._forget_touched(player, number)
        self.journals.changed(player)
        self.world.start(self.rewards.give(player, taken, times))
        self.world.events.publish(QuestCompleted(player, number, times))
        return True

    # -- later ----------------------------------------------------------------------------------

    def later(self, player: Player, act: Callable[[], object]) -> None:
        """Carry out an act in the player's next turn, behind those that wait already."""
        queue = self._queued.setdefault(player.id, deque())
        if len(queue) >= MOST_QUEUED:
            self.world.count("acts of scripts on quests dropped")
            return
        queue.append(act)
        self._arm(player)

    def complete_later(self, player: Player, number: int, step: int) -> None:
        """End a step as done in the player's next turn."""
        self.later(player, partial(self._on_step, player, number, partial(self.complete), step))

    def progress_later(self, player: Player, number: int, step: int, amount: int) -> None:
        """Count a step in the player's next turn."""

        def count(player: Player, taken: TakenQuest, step: int) -> bool:
            return self.progress(player, taken, step, amount)

        self.later(player, partial(self._on_step, player, number, count, step))

    def fail_later(self, player: Player, number: int, step: int) -> None:
        """End a step as failed in the player's next turn."""
        self.later(player, partial(self._on_step, player, number, self.fail, step))

    def finish_later(self, player: Player, number: int) -> None:
        """Complete a quest in the player's next turn."""
        self.later(player, partial(self.finish, player, number))

    def _on_step(
        self, player: Player, number: int,
        act: Callable[[Player, TakenQuest, int], object], step: int,
    ) -> None:  # fmt: skip
        taken = self.journal(player).open.get(number)
        if taken is not None:
            act(player, taken, step)

    def touched(self, player: Player, number: int) -> None:
        """Show a quest again whose texts a script has changed, unless that happens anyway."""
        self._touched.setdefault(player.id, set()).add(number)
        self._arm(player)

    def _forget_touched(self, player: Player, number: int) -> None:
        found = self._touched.get(player.id)
        if found is not None:
            found.discard(number)

    def _arm(self, player: Player) -> None:
        if self._turns.get(player, "") is None:
            self._turns.set(player, "", self.world.clock.now())

    def _turn(self, player: Player, _name: str, _now: Monotonic) -> None:
        """Carry out what has waited; what is asked for meanwhile waits for the next turn."""
        for act in self._queued.pop(player.id, ()):
            self.world.faults.attempt("an act on quests", player, act)
        journal = self.journal(player)
        for number in self._touched.pop(player.id, ()):
            taken = journal.open.get(number)
            if taken is not None:
                self.journals.show(player, taken)

    # -- coming and leaving -----------------------------------------------------------------------

    def _entered(self, event: Entered) -> None:
        """Go on with what was due when the player left."""
        player = event.player
        journal = self.journal(player)
        for taken in journal.open.values():
            for number in taken.ends:
                self._watch(player, taken, number)
        self._finish_due(player)
        if journal.pending:
            self.rewards.restore(player)

    def _read_anew(self, event: QuestsDue) -> None:
        if event.player.state in IN_ZONE:  # the others go on when they stand
            self._finish_due(event.player)

    def _finish_due(self, player: Player) -> None:
        """Complete the quests whose scripts have asked for that when they were read."""
        for number in dict.fromkeys(self.journals.due.pop(player.id, ())):
            self.finish_later(player, number)

    def _left(self, player: Player) -> None:
        self._queued.pop(player.id, None)
        self._touched.pop(player.id, None)
        self._turns.clear(player, "")
        for taken in player.journal.open.values():
            for number in taken.ends:
                self._ends.clear(player, (taken.number, number))

    def share(self, player: Player, number: int, others: list[Player]) -> int:
        """Offer a quest of a player to others near who do not ignore it; return to how many.

        Raises `CommandError` if the player has it not, or may not share it.
        """
        journal = self.journal(player)
        plan = self.journals.plan(number)
        if plan is None or not _may_share(plan, journal):
            raise CommandError("you cannot share this quest")
        offered = 0
        for other in others:
            is_ignored = other.relations.knows(Relation.IGNORED, player.name)
            if not is_ignored and self.may_take(other, number):
                text = f"{player.name} has shared the quest {plan.title} with you."
                send_text(other.client, text, 5)
                offered += self.offer(other, number)
        return offered


WHILE_ACTIVE, AFTER_ONCE, COMPLETED = 1, 2, 4
"""Bits of `QuestPlan.is_shareable`."""


def _may_share(plan: QuestPlan, journal: Journal) -> bool:
    is_open, is_done = plan.number in journal.open, plan.number in journal.completed
    bits = plan.is_shareable
    return bool(
        (bits & WHILE_ACTIVE and is_open)
        or (bits & AFTER_ONCE and is_open and is_done)
        or (bits & COMPLETED and is_done)
    )
