"""A player who does every quest of a content file, from its journal alone.

It reads the kinds and subjects of open steps, and nothing of the script: it kills the spawn that a
step names, hails it and tries all answers, waits for timers, holds the thing, stands at the place.
A plain step is ended as scripts of spawns end it, by `SetStepComplete`. After each step it logs out
and in, and compares its steps and texts.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Final

from emu.content.figures import read_figures
from emu.content.file import Entry, Placement, Template
from emu.content.quests import EMPTY, QuestTables
from emu.content.standing import Standing
from emu.items.kinds import ItemKind
from emu.quests.journal import Completion, Journal, TakenQuest
from emu.quests.plans import QuestPlan, Step, StepKind
from emu.world.actors.spawn import Spawn
from tests.support.world.quest_ends import QuestEnds
from tests.support.world.script_scenes import PLACE, ScriptScene

MOST_STEPS: Final = 80
MOST_TALKS: Final = 80
"""Ways through the dialogs of one spawn."""
LONGEST_TALK: Final = 14
LONGEST_TIMER: Final = 12
"""Seconds for which the next page of a dialog is awaited, if its script has timers."""
LONGEST_TIMERS: Final = 60
"""Seconds for which the end of a talk is awaited, if its script has timers."""
MOST_KILLS: Final = 120
GIVER: Final = 1
"""The kind of the spawn that stands for the giver; the content file has no spawn 1."""
NO_STEPS: Final = "the script adds no steps"
NO_REWARD: Final = "all is done, and the script gives no reward"
BAG: Final = 20725
"""A bag of 48 places."""
FRIENDLY: Final = 40_000
"""The standing of the player with all factions: many spawns talk to friends alone."""
RACES: Final = range(20)
GOOD: Final = 1
"""The deity of those to whom spawns of Qeynos talk."""
LETTERS: Final = "abcdefghij"


@dataclass(frozen=True, slots=True)
class KnownSpawn:
    """What the content file has of a kind of spawn."""

    name: str
    scripts: tuple[str, ...]
    is_placed: bool


@dataclass(slots=True)
class Walk:
    """How one quest went."""

    number: int
    is_complete: bool = False
    steps: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    """What had to be helped, or was the end."""
    lacks: set[int] = field(default_factory=set)
    """Spawns of kills and talks that stand nowhere."""
    lines: list[str] = field(default_factory=list)
    """Errors of scripts."""
    texts: list[tuple[str, ...]] = field(default_factory=list)
    """What the client's journal said after each step."""
    texts_lost: int = 0
    """Logins after which the journal had other texts."""

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end without help."""
        return self.is_complete and not self.causes


class QuestWalker:
    """Walks the quests of a content file, each with a new player."""

    def __init__(self, content: Path, scripts: Path, version: int = 546) -> None:
        self.version = version
        self.scene = ScriptScene(
            scripts, version, quests=QuestTables(content), figures=read_figures(content)
        )
        self.scene.harness.kinds.reload(content)
        with closing(sqlite3.connect(f"file:{content}?mode=ro", uri=True)) as rows:
            self.numbers = [
                number for (number,) in rows.execute(
                    "SELECT id FROM quests WHERE script NOT IN ('', ?) ORDER BY id", (EMPTY,)
                )
            ]  # fmt: skip
            of_spawns, of_entries, of_places = (
                dict(rows.execute(f"SELECT {key}, script FROM spawn_scripts WHERE {key} > 0"))
                for key in ("spawn_id", "entry_id", "location_id")
            )
            self.factions = [one for (one,) in rows.execute("SELECT id FROM factions ORDER BY id")]
            found: dict[int, set[str]] = defaultdict(set)
            for entry, location, number in rows.execute(
                "SELECT id, location_id, spawn_id FROM entries"
            ):
                found[number] |= {of_entries.get(entry, ""), of_places.get(location, "")}
            self.spawns = {
                number: KnownSpawn(
                    name,
                    tuple(sorted({of_spawns.get(number, ""), *found.get(number, ())} - {""})),
                    number in found,
                )
                for number, name in rows.execute("SELECT id, name FROM spawns")
            }
        # The walk tries nothing twice that has a chance.
        self.scene.harness.parts.quests.counting._roll = lambda _count: 0
        self._chances = Random(1)
        self.scene.scripts.chances = self._chances
        self.ends = QuestEnds(scripts)
        self._folder = scripts
        self._has_timers: dict[str, bool] = {}
        self.models: dict[int, int] = {}
        for model, race in self.scene.scripts.figures.races.items():
            self.models.setdefault(race, model)
        self._next = 100 if version == 546 else 5000  # Two walkers share no character.

    def faults(self) -> list[str]:
        """Return the faults of this server itself."""
        harness = self.scene.harness
        found = [f"{task}: {count}" for task, count in harness.parts.faults.counts.items()]
        if count := self.scene.scripts.counters["functions failed"]:
            found.append(f"functions for scripts: {count}")
        return found

    # -- one quest ------------------------------------------------------------------------------

    def walk(self, number: int) -> Walk:
        """Do one quest."""
        walk, quests = Walk(number), self.scene.harness.parts.quests.quests
        before = len(self.scene.lines)
        # Scripts choose texts by chance: a walk is the same whatever was walked before.
        self._chances.seed(number)
        self.scene.scripts.files.runtime.reseed(number)
        self._come()
        try:
            giver = self.put(GIVER)
            if not quests.offer(self.scene.player, number, GIVER, is_forced=True):
                walk.causes["the script fails or is missing"] += 1
            else:
                self._turn()
                self._do_steps(walk)
                self._answer_rewards(walk)
            self._remove(giver)
        finally:
            self.scene.harness.service.send_away(self.scene.player, "test", self.scene.harness.now)
            walk.lines = self.scene.lines[before:]
        walk.is_complete = number in quests.journal(self.scene.player).completed
        return walk

    def _come(self) -> None:
        """Let a new player stand in the zone."""
        self._next += 1
        name = "Walker" + "".join(LETTERS[int(one)] for one in str(self._next))
        client = self.scene.harness.stand(
            self._next, self.version, name=name, level=60, languages=(*range(1, 40),)
        )
        assert client.player is not None
        for faction in self.factions:
            client.player.past.change_standing(faction, FRIENDLY)
        self.scene.client, self.scene.player = client, client.player
        self.scene.zone = client.player.zone
        self.scene.go(1.0)
        items = self.scene.harness.parts.items
        bag = items.kinds.get(BAG)
        assert bag is not None
        client.player.holdings.inventory.add_things(bag, 1, items.new_number)

    def _turn(self) -> None:
        self.scene.harness.run(0.3)

    def _taken(self, walk: Walk) -> TakenQuest | None:
        quests = self.scene.harness.parts.quests.quests
        return quests.journal(self.scene.player).open.get(walk.number)

    def _do_steps(self, walk: Walk) -> None:
        while (taken := self._taken(walk)) is not None and walk.steps < MOST_STEPS:
            step = next(taken.open_steps(), None)
            if step is None:
                has_steps = taken.plan is not None and bool(taken.plan.steps)
                walk.causes[NO_REWARD if has_steps else NO_STEPS] += 1
                return
            walk.steps += 1
            self._do(walk, step)
            is_over = self._is_over(walk, step.number)
            self._read(walk)
            if not is_over:
                self._help(walk, step)
                if not self._is_over(walk, step.number):
                    walk.causes[f"{step.kind} cannot be ended"] += 1
                    return
            self._log_in_again(walk)
        if walk.steps >= MOST_STEPS:
            walk.causes["steps without an end"] += 1

    def _read(self, walk: Walk) -> None:
        """Note what the client was sent of the quest last."""
        for one in reversed(self.scene.client.decoded("WS_QuestJournalReply")):
            if one["quest_id"] == walk.number:
                texts = [one["name"], one["description"], one["type"]]
                # A newer client is shown a completed quest without its tasks (recorded).
                is_open = self._taken(walk) is not None
                for group in one["task_group_array"] if is_open else ():
                    texts += [group["task_group"], *(row["task"] for row in group["task_array"])]
                walk.texts.append(tuple(map(str, texts)))
                return

    def _is_over(self, walk: Walk, number: int) -> bool:
        self._turn()
        taken = self._taken(walk)
        return taken is None or not taken.is_open(number)

    def _help(self, walk: Walk, step: Step) -> None:
        """End a step as the script of another spawn would."""
        if step.kind is not StepKind.PLAIN:
            known = [self.spawns.get(one) for one in step.ids]
            if not (step.ids or step.spots):
                cause = "that names nothing"
            elif step.kind in (StepKind.TALK, StepKind.KILL, StepKind.KILL_SELF) and not any(known):
                cause = "of no known spawn"
            elif step.kind is StepKind.KILL_RACE and not self.models.keys() & step.ids:
                cause = "that no model has"
            elif step.kind is StepKind.OBTAIN and not self._kinds(step):
                cause = "of a thing that nothing describes"
            elif step.kind is StepKind.TALK:
                cause = self._cause_of_talk(walk, step)
            else:
                cause = "does nothing"
            walk.causes[f"{step.kind} {cause}"] += 1
        quests = self.scene.harness.parts.quests.quests
        quests.complete_later(self.scene.player, walk.number, step.number)

    def _cause_of_talk(self, walk: Walk, step: Step) -> str:
        """Return why a talk did nothing."""
        if not self._scripts_of(step):
            return "to a spawn without a script"
        if self._own_scripts_end(walk, step):
            return "does nothing"
        ending = self.ends.scripts(walk.number, step.number)
        return "that the script of another spawn ends" if ending else "that no script ends"

    def _scripts_of(self, step: Step) -> set[str]:
        """Return the scripts of the spawns of a step."""
        known = [self.spawns.get(one) for one in step.ids]
        return {script for one in known if one is not None for script in one.scripts}

    def _own_scripts_end(self, walk: Walk, step: Step) -> bool:
        """Return whether a script of a spawn of a step says that it ends the step."""
        return bool(self._scripts_of(step) & self.ends.scripts(walk.number, step.number))

    def _log_in_again(self, walk: Walk) -> None:
        """Rebuild the journal from its stored text, and compare it."""
        player, before = self.scene.player, self._taken(walk)
        player.journal = Journal(player.journal.text)
        after = self._taken(walk)
        if before is None or after is None or before.plan is None:
            return
        if after.plan is None:
            walk.causes["gone after a login"] += 1
        elif before.plan.steps.keys() != after.plan.steps.keys():
            walk.causes["other steps after a login"] += 1
        elif _texts(before.plan) != _texts(after.plan):
            walk.texts_lost += 1

    def _answer_rewards(self, walk: Walk) -> None:
        player, parts = self.scene.player, self.scene.harness.parts.quests
        self._turn()
        for _ in range(10):
            pending = parts.quests.journal(player).pending
            if not pending:
                return
            offered = [
                one for one, _ in pending[0].reward.choices
                if parts.journals.kind(one) is not None
            ]  # fmt: skip
            choice = offered[0] if offered else 0
            self.scene.client.types(f"/accept_reward {choice} {choice}")
            self._turn()
        walk.causes["a reward that cannot be taken"] += 1

    # -- one step -------------------------------------------------------------------------------

    def _do(self, walk: Walk, step: Step) -> None:
        counting, player = self.scene.harness.parts.quests.counting, self.scene.player
        times = max(1, step.quantity)
        if step.kind in (StepKind.KILL, StepKind.KILL_SELF, StepKind.TALK):
            walk.lacks |= {one for one in step.ids if not self._is_placed(one)}
        if step.kind in (StepKind.KILL, StepKind.KILL_SELF):
            self._kill(walk, step, [(one, 0) for one in sorted(step.ids)])
        elif step.kind is StepKind.KILL_RACE:
            self._kill(walk, step, [(0, self.models.get(one, 0)) for one in sorted(step.ids)])
        elif step.kind is StepKind.TALK:
            self._talk(walk, step)
        elif step.kind is StepKind.OBTAIN:
            self._hold(step, times)
        elif step.kind in (StepKind.CRAFT, StepKind.HARVEST, StepKind.SPELL):
            for number in sorted(step.ids)[:1]:
                counting.count(player, step.kind, number, times)
        elif step.kind in (StepKind.PLACE, StepKind.PLACE_IN_ZONE):
            self._stand(step)

    def _is_placed(self, number: int) -> bool:
        known = self.spawns.get(number)
        return known is not None and known.is_placed

    def put(self, number: int, model: int = 0, script: str = "") -> Spawn:
        """Put a spawn of the content file beside the player, with its script."""
        known = self.spawns.get(number) or KnownSpawn("nobody", (), is_placed=False)
        zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
        location = 5_000_000 + number
        standing = Standing(
            Placement(**zeros | {"id": location, "location_id": location}),
            Entry(1, location, number, 100.0, 0, script or next(iter(known.scripts), "")),
            Template(number, "npcs", {}, {}, {}, ()), *PLACE[:3], 12, 32, None, 0,
        )  # fmt: skip
        spawn = self.scene.put(standing, known.name)
        spawn.look = replace(spawn.look, dealing=spawn.look.dealing._replace(number=number))
        if model:
            spawn.appearance = {**spawn.appearance, "model_type": model}
        self.scene.harness.run(0.1)
        if spawn.allowed:
            # Scripts of zones and of other spawns let players see it.
            spawn.set_allowed(spawn.allowed | {self.scene.player.spawn.id})
            self._turn()
        return spawn

    def _remove(self, spawn: Spawn) -> None:
        scene = self.scene
        scene.scripts.vanished(scene.zone, spawn)
        scene.harness.parts.quests.vanished(scene.zone, spawn)
        scene.zone.remove(spawn, scene.harness.now)

    def _kill(self, walk: Walk, step: Step, kinds: Iterable[tuple[int, int]]) -> None:
        for number, model in kinds:
            for _ in range(min(MOST_KILLS, max(1, step.quantity) + 2)):
                if self._is_over(walk, step.number):
                    return
                victim = self.put(number, model)
                self.scene.harness.parts.minds.harm.kill(
                    self.scene.zone, victim, self.scene.player.spawn
                )

    def _hold(self, step: Step, times: int) -> None:
        items, player = self.scene.harness.parts.items, self.scene.player
        for kind in self._kinds(step)[:1]:
            made = player.holdings.inventory.add_things(kind, times, items.new_number)
            items.obtained(player, made)

    def _kinds(self, step: Step) -> list[ItemKind]:
        """Return the kinds of things that a step asks for and that the content file describes."""
        found = (self.scene.harness.parts.items.kinds.get(one) for one in sorted(step.ids))
        return [one for one in found if one is not None]

    def _stand(self, step: Step) -> None:
        scene = self.scene
        for spot in step.spots[:3]:
            before = scene.zone.zone_id
            if spot.zone:
                scene.zone.zone_id = spot.zone
            try:
                scene.player.teleport(PLACE._replace(x=spot.x, y=spot.y, z=spot.z),
                                      scene.harness.now)  # fmt: skip
                scene.harness.parts.quests.counting.moved(scene.player)
            finally:
                scene.zone.zone_id = before
            scene.go(1.0)

    # -- talks ----------------------------------------------------------------------------------

    def _talk(self, walk: Walk, step: Step) -> None:
        ways = self.numbers[: self.numbers.index(walk.number)], self.numbers
        for others in ((), *ways):
            with self._having_done(walk, others):
                if self._talk_to_any(walk, step):
                    return
        looks = self.scene.player.spawn.appearance
        with self._having_done(walk, ways[0]):
            # Some spawns talk to people of one race alone, or of one city.
            for race in RACES if self._own_scripts_end(walk, step) else ():
                self.scene.player.spawn.appearance = {**looks, "race": race}
                if self._talk_to_any(walk, step):
                    break
            self.scene.player.spawn.appearance = looks
            if self._own_scripts_end(walk, step):
                self._talk_as_good(walk, step)

    def _talk_as_good(self, walk: Walk, step: Step) -> None:
        player = self.scene.player
        before = player.character
        if not self._is_over(walk, step.number):
            player.character = replace(before, deity=GOOD)
            self._talk_to_any(walk, step)
            player.character = replace(player.character, deity=before.deity)

    def _talk_to_any(self, walk: Walk, step: Step) -> bool:
        """Talk to each spawn of a step, with each of its scripts; return whether one ends it."""
        for number in sorted(step.ids):
            known = self.spawns.get(number)
            for script in known.scripts if known is not None else ():
                spawn = self.put(number, script=script)
                try:
                    has_timers = self._uses_timers(script)
                    if self._try_answers(walk, step, spawn, has_timers=has_timers):
                        return True
                finally:
                    self._remove(spawn)
        return False

    def _uses_timers(self, script: str) -> bool:
        """Return whether a script names timers in its text."""
        if script not in self._has_timers:
            path = self._folder / script
            text = path.read_bytes() if path.is_file() else b""
            self._has_timers[script] = b"AddTimer" in text
        return self._has_timers[script]

    @contextmanager
    def _having_done(self, walk: Walk, others: Iterable[int]) -> Iterator[None]:
        """Let the player have completed other quests: many dialogs ask for those before."""
        completed = self.scene.harness.parts.quests.quests.journal(self.scene.player).completed
        before = dict(completed)
        done = Completion(1, self.scene.harness.moment)
        completed |= {one: done for one in others if one != walk.number}
        yield
        now = self.scene.harness.parts.quests.quests.journal(self.scene.player).completed
        kept = {one: done for one, done in now.items() if one == walk.number}
        now.clear()
        now |= before | kept

    def _try_answers(self, walk: Walk, step: Step, spawn: Spawn, *, has_timers: bool) -> bool:
        """Try all ways through the dialogs of a spawn; return whether one ends the step.

        A page that was shown before is not tried again.
        """
        ways: list[tuple[int, ...]] = [()]
        pages: set[str] = set()
        for _ in range(MOST_TALKS):
            if not ways:
                break
            way = ways.pop()
            shown = self._say(spawn, way, has_timers=has_timers)
            if self._is_over(walk, step.number):
                return True
            if shown is not None and len(way) < LONGEST_TALK:
                answers = [one["response"] for one in shown.get("response_array", ())]
                page = repr((shown["text"], answers))
                if page not in pages:
                    pages.add(page)
                    ways += [(*way, one) for one in reversed(range(len(answers)))]
        if has_timers:
            self.scene.harness.run(LONGEST_TIMERS)
        return self._is_over(walk, step.number)

    def _forget_messages(self) -> None:
        """Forget what the client was sent, but the list of commands."""
        client = self.scene.client
        client.log[:] = [one for one in client.log if one[0] == "OP_SetRemoteCmdsMsg"]
        client.heard = 0

    def _opened(self, *, has_timers: bool) -> list[dict[str, Any]]:
        """Return the dialogs that were opened, or that a timer opens soon."""
        client = self.scene.client
        self.scene.harness.run(0.1)
        opened = client.decoded("WS_DialogOpen")
        for _ in range(LONGEST_TIMER if has_timers else 0):
            if opened:
                break
            self.scene.harness.run(1.0)
            opened = client.decoded("WS_DialogOpen")
        return opened

    def _say(
        self, spawn: Spawn, way: tuple[int, ...], *, has_timers: bool
    ) -> dict[str, Any] | None:
        """Hail a spawn and give answers; return the dialog that is open then."""
        client = self.scene.client
        # Faster commands are refused as a flood.
        self.scene.harness.run(1.0)
        self._forget_messages()
        self.scene.go(1.0)
        self.scene.player.set_target(spawn)
        client.types("/hail")
        opened = self._opened(has_timers=has_timers)
        for answer in way:
            if not opened:
                return None
            self._forget_messages()
            self.scene.answer(opened[-1]["conversation_id"], answer)
            opened = self._opened(has_timers=has_timers)
        return opened[-1] if opened else None


def _texts(plan: QuestPlan) -> tuple[object, ...]:
    """Return what the journal shows of a plan."""
    steps = [(one.number, one.text) for one in plan.steps.values()]
    return plan.title, plan.description, plan.zone, plan.groups, steps
