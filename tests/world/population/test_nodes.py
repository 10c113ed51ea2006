"""Verbs of nodes: their time, those that a node gets by its skill, and nodes without tables."""

from __future__ import annotations

from emu.world.actors.dealings import Dealing, NodeSkill
from emu.world.actors.spawn import Verb
from emu.world.population.nodes import harvests, verbs_of_device, verbs_of_node

HAIL = Verb("Hail", 10.0, "hail")
GATHER = Verb("Gather", 5.0, "gather")


def test_harvesting_takes_its_time() -> None:
    found = verbs_of_node(Dealing(1, node=5, node_skill=NodeSkill.GATHERING), (GATHER, HAIL))
    assert [(one.command, one.cast_time, one.is_command) for one in found] == [
        ("gather", 5.0, False), ("hail", 0.0, True),
    ]  # fmt: skip


def test_a_node_without_a_verb_gets_that_of_its_skill() -> None:
    for skill in NodeSkill:
        if skill is not NodeSkill.NONE:
            (verb,) = verbs_of_node(Dealing(1, node=5, node_skill=skill), ())
            assert harvests(verb)


def test_what_shines_is_collected_from_three_units() -> None:
    """Source: fight-546-harvest-a."""
    (verb,) = verbs_of_node(Dealing(1, node=5, node_skill=NodeSkill.COLLECTING), ())
    assert (verb.name, verb.command, verb.distance) == ("collect", "gather", 3.0)


def test_a_node_without_tables_has_no_verb_of_harvest() -> None:
    found = verbs_of_node(Dealing(1, node_skill=NodeSkill.MINING), (GATHER, HAIL))
    assert found == (HAIL,)


def test_other_spawns_keep_their_verbs() -> None:
    assert verbs_of_node(Dealing(1), (GATHER, HAIL)) == (GATHER, HAIL)


def test_a_device_has_the_verb_that_opens_the_book() -> None:
    """Source: the device's verbs in items-546-deal: "create", from 10 units away."""
    found = verbs_of_device(Dealing(1, device=2), (HAIL,))
    assert [(one.command, one.distance) for one in found] == [("create", 10.0), ("hail", 10.0)]
    own = Verb("Work", 4.0, "create")
    assert verbs_of_device(Dealing(1, device=2), (own,)) == (own,)
    assert verbs_of_device(Dealing(1), (HAIL,)) == (HAIL,)
