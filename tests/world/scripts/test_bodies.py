"""Texts between scripts and players, and distances with height."""

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.minds.nearness import distance_between
from emu.world.scripts.bodies import given, shown
from emu.world_stream.movement import Position


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
