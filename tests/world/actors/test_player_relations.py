"""Lists of friends and ignored ones."""

from __future__ import annotations

import pytest

from emu.errors import CommandError
from emu.world.actors.player import LONGEST_NAME, MOST_NAMES, Relation, Relations


def test_names_are_kept_without_regard_to_case() -> None:
    relations = Relations([(Relation.FRIEND, "Aldana")])
    assert relations.knows(Relation.FRIEND, "aLDANA")
    assert not relations.knows(Relation.IGNORED, "Aldana")
    with pytest.raises(CommandError, match="Aldana is on the list already"):
        relations.add_name(Relation.FRIEND, "ALDANA")
    relations.add_name(Relation.IGNORED, "Borvik")
    assert relations.rows() == [(Relation.FRIEND, "Aldana"), (Relation.IGNORED, "Borvik")]
    assert relations.remove(Relation.FRIEND, "aldana") == "Aldana"
    with pytest.raises(CommandError, match="not on the list"):
        relations.remove(Relation.FRIEND, "aldana")


def test_a_list_is_bounded() -> None:
    relations = Relations()
    for number in range(MOST_NAMES):
        relations.add_name(Relation.FRIEND, f"n{number}")
    with pytest.raises(CommandError, match="at most"):
        relations.add_name(Relation.FRIEND, "one more")


def test_names_are_no_longer_than_names_are() -> None:
    with pytest.raises(CommandError, match="letters"):
        Relations().add_name(Relation.FRIEND, "x" * (LONGEST_NAME + 1))
