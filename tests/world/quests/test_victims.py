"""Which deaths count for steps of killing (docs/guides/quests.md#steps)."""

from __future__ import annotations

import pytest

from emu.quests.plans import Step, StepKind
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.quests.victims import Victims
from emu.world_stream.movement import Position


def victims(*steps: Step, number: int = 901, race: int = 42) -> Victims:
    return Victims(frozenset(steps), lambda _spawn: number, lambda _spawn: race)


KIND = Step(1, StepKind.KILL, "Crabs.", ids=frozenset((901,)))
RACE = Step(1, StepKind.KILL_RACE, "Beasts.", ids=frozenset((42,)))
NAME = Step(1, StepKind.KILL, "Crabs.", names=frozenset(("a shore crab",)))


@pytest.mark.parametrize(
    ("step", "number", "race", "fits"),
    [(KIND, 901, 0, True), (KIND, 902, 901, False), (RACE, 0, 42, True), (RACE, 42, 0, False),
     (NAME, 0, 0, True)],
)  # fmt: skip
def test_a_step_names_its_victims(step: Step, number: int, race: int, *, fits: bool) -> None:
    crab = Spawn(1, SpawnKind.NPC, "a Shore Crab", Position(0, 0, 0))
    assert victims(step, number=number, race=race)(crab) is fits


def test_only_creatures_are_victims() -> None:
    barrel = Spawn(1, SpawnKind.OBJECT, "a shore crab", Position(0, 0, 0))
    assert not victims(KIND, NAME)(barrel)


def test_victims_of_the_same_steps_are_equal() -> None:
    def number_of(_spawn: Spawn) -> int:
        return 901

    both = [Victims(frozenset((KIND,)), number_of, number_of) for _ in range(2)]
    assert both[0] == both[1] != Victims(frozenset((RACE,)), number_of, number_of)
