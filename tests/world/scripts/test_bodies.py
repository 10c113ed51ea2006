"""Texts between scripts and players, and distances with height."""

from pathlib import Path
from typing import Any

import pytest

from emu.quests.journal import Journal
from emu.quests.plans import QuestPlan, Step, StepKind
from emu.scripts.signatures import HandleKind
from emu.times import Moment
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.minds.nearness import distance_between
from emu.world.scripts.bodies import QuestRequirement, Requirement, given, shown
from emu.world_stream.movement import Position
from tests.support.world.script_scenes import ScriptScene


@pytest.mark.parametrize(
    ("text", "player_sees"),
    [
        ("plain", "plain"), ("\xc3\xa9", "\xe9"), ("\xe9", "\xe9"), ("\x92", "\u2019"),
        ("a\x00b", "a b"), ("x" * 2000, "x" * 1024),
    ],
)  # fmt: skip
def test_texts_of_scripts(text: str, player_sees: str) -> None:
    assert shown(text) == player_sees


def test_names_come_back_as_they_were() -> None:
    assert shown(given("Zo\xeb \u0416")) == "Zo\xeb \u0416"


def test_distance_counts_height() -> None:
    one = Spawn(1, SpawnKind.NPC, "a", Position(0.0, 0.0, 0.0))
    other = Spawn(2, SpawnKind.NPC, "b", Position(2.0, 6.0, 3.0))
    assert distance_between(one, other) == 7.0


NOW = Moment(1_800_000_000.0)


class Bodies(ScriptScene):
    """Two guards of group 7 at location 70, and a wolf without a group at location 71."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        script = self.script("")
        grouped = self.standing(script)._replace(group=7)
        self.spawns = [self.put(grouped, "Guard"), self.put(grouped, "Captain")]
        self.spawns.append(self.place(script, "Wolf", 71))
        self.home = self.scripts.homes.of(self.zone)
        self.guard, self.captain, self.wolf = (self.home.bodies[one.id] for one in self.spawns)
        self.body = self.scripts.homes.player(self.player)


@pytest.fixture
def bodies(tmp_path: Path) -> Bodies:
    pytest.importorskip("lupa", reason="the package lupa is not installed")
    return Bodies(tmp_path)


def test_spawns_are_known_by_location_group_and_number(bodies: Bodies) -> None:
    home = bodies.home
    assert home.by_location == {70: [bodies.guard, bodies.captain], 71: [bodies.wolf]}
    assert home.in_group(7) == [bodies.guard, bodies.captain]
    assert home.in_group(8) == []
    assert list(home.of_spawn(970)) == [bodies.guard, bodies.captain]
    assert [one.handle.kind for one in (bodies.wolf, bodies.body)] == [
        HandleKind.NPC, HandleKind.PLAYER,
    ]  # fmt: skip
    home.set_group(bodies.wolf, 7)
    home.set_group(bodies.guard, 0)
    assert home.in_group(7) == [bodies.captain, bodies.wolf]
    home.set_group(bodies.captain, 0)
    home.set_group(bodies.wolf, 8)
    assert home.by_group == {8: {bodies.wolf.spawn.id: bodies.wolf}}


def test_a_group_is_dead_when_nothing_of_it_lives(bodies: Bodies) -> None:
    harm = bodies.harness.minds.harm
    assert bodies.home.is_group_dead(8)
    harm.kill(bodies.zone, bodies.guard.spawn, None)
    assert not bodies.home.is_group_dead(7)
    harm.kill(bodies.zone, bodies.captain.spawn, None)
    assert bodies.home.is_group_dead(7)


def test_a_spawn_that_is_gone_is_known_nowhere(bodies: Bodies) -> None:
    home, guard = bodies.home, bodies.guard
    guard.variables = {"met": "yes"}
    home.requirements.require(guard, Requirement(5, (1, 2), is_private=False), [])
    home.remove(guard)
    assert (guard.is_gone, guard.handle.subject, guard.variables) == (True, None, {})
    assert home.by_location[70] == [bodies.captain]
    assert home.in_group(7) == [bodies.captain]
    assert home.requirements.are_met(guard, bodies.player)
    home.remove(bodies.captain)
    assert 70 not in home.by_location
    assert 7 not in home.by_group
    home.set_group(guard, 9)
    assert home.in_group(9) == []


def test_a_zone_that_ends_lets_go_of_all(bodies: Bodies) -> None:
    home, homes = bodies.home, bodies.scripts.homes
    stray = Spawn(4711, SpawnKind.NPC, "a rat", bodies.guard.spawn.position)
    bodies.zone.add_spawn(stray, bodies.harness.now)
    other = homes.known(stray, bodies.zone)
    assert other is not None
    assert homes.known(stray, bodies.zone) is other
    assert homes.known(bodies.guard.spawn, bodies.zone) is bodies.guard
    assert homes.known(bodies.player.spawn, bodies.zone) is bodies.body
    home.newcomers.append(bodies.player)
    home.end()
    assert all(
        one.is_gone for one in (bodies.guard, bodies.captain, bodies.wolf, bodies.body, other)
    )
    assert (home.is_gone, home.handle.subject) == (True, None)
    assert [*home.bodies, *home.players, *home.others, *home.newcomers] == []


def test_a_spawn_that_left_or_another_one_with_its_number_is_not_known(bodies: Bodies) -> None:
    homes, at = bodies.scripts.homes, bodies.guard.spawn.position
    stray = Spawn(4711, SpawnKind.NPC, "a rat", at)
    assert homes.known(stray, bodies.zone) is None
    bodies.zone.add_spawn(stray, bodies.harness.now)
    assert homes.known(Spawn(4711, SpawnKind.NPC, "a rat", at), bodies.zone) is None
    assert homes.body(stray, bodies.zone) is None
    assert homes.of_number(bodies.zone.zone_id) is bodies.home
    assert homes.of_number(999) is None


def test_a_private_requirement_hides_a_spawn_from_others(bodies: Bodies) -> None:
    spawn, requirements = bodies.guard.spawn, bodies.home.requirements
    own = bodies.player.spawn.id
    requirements.require(bodies.guard, Requirement(5, (1, 2), is_private=True), [bodies.body])
    assert spawn.allowed == {spawn.id}
    assert not requirements.are_met(bodies.guard, bodies.player)
    assert requirements.are_met(bodies.wolf, bodies.player)
    bodies.player.past.note(5, 1, 2)
    requirements.update(bodies.body)
    assert spawn.allowed == {spawn.id, own}
    assert requirements.are_met(bodies.guard, bodies.player)
    bodies.player.past.note(5, 1, 3)
    requirements.update(bodies.body)
    assert spawn.allowed == {spawn.id}
    bodies.player.past.note(5, 1, 2)
    requirements.update(bodies.body)
    requirements.forget(bodies.body)
    assert spawn.allowed == {spawn.id}


def test_a_public_requirement_hides_nothing(bodies: Bodies) -> None:
    requirements = bodies.home.requirements
    for values in ((1, 2), (3, 4)):
        one = Requirement(5, values, is_private=False)
        requirements.require(bodies.wolf, one, [bodies.body])
    requirements.update(bodies.body)
    assert not bodies.wolf.spawn.allowed
    assert not requirements.are_met(bodies.wolf, bodies.player)
    bodies.player.past.note(5, 3, 4)
    assert requirements.are_met(bodies.wolf, bodies.player)  # one of a kind is enough


@pytest.mark.parametrize(
    ("step", "is_kept", "met"),
    # Without the quest, at step 1, at step 2, completed.
    [
        (0, False, [False, True, True, False]), (0, True, [False, True, True, True]),
        (1, False, [False, True, False, False]), (1, True, [False, True, True, True]),
        (2, False, [False, True, True, False]),
    ],
)  # fmt: skip
def test_a_quest_that_a_spawn_requires(step: int, is_kept: bool, met: list[bool]) -> None:
    journal, plan = Journal(), QuestPlan(7, "Errand")
    for number in (1, 2):
        plan.add_step(Step(number, StepKind.TALK, f"Step {number}."))
    one = QuestRequirement(lambda _player: journal, 7, step, is_kept, is_private=False)
    player: Any = None
    found = [one.is_met_by(player)]
    taken = journal.take_quest(plan, 0, NOW)
    found.append(one.is_met_by(player))
    taken.complete(1)
    found.append(one.is_met_by(player))
    journal.finish(7, NOW)
    found.append(one.is_met_by(player))
    assert found == met
