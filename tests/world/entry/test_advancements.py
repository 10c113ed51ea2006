"""The tabs of alternate advancements of each client version."""

from __future__ import annotations

import pytest

from emu.world.entry.advancements import read_advancements


def test_each_version_has_the_recorded_number_of_trees() -> None:
    """`1096-zonein-alone` 4, `1208-zonein-alone` 7, `60114-zonein-alone` 10 trees."""
    table = read_advancements()
    versions = (562, 1095, 1096, 1188, 1208, 57105, 58617, 60114, 64753)
    assert [len(table.trees(version)) for version in versions] == [3, 3, 4, 7, 7, 8, 10, 10, 10]
    assert (len(table.tabs), len(table.templates(57107)), len(table.templates(58617))) == (48, 0, 7)


@pytest.mark.parametrize(
    ("class_", "titles"),
    [
        (0, ["Commoner", "Commoner"]), (1, ["Commoner", "Fighter"]), (2, ["Fighter", "Warrior"]),
        (3, ["Warrior", "Guardian"]), (40, ["Predator", "Assassin"]),
        (42, ["Animalist", "Beastlord"]), (200, ["Commoner", ""]),
    ],
)  # fmt: skip
def test_the_first_trees_have_names_of_classes(class_: int, titles: list[str]) -> None:
    table = read_advancements()
    assert [table.title(tree, class_) for tree in table.trees(1096)[:2]] == titles
