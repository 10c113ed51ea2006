"""The assembly makes and connects every component once."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from emu.world import events
from emu.world.assembly import Assembly
from emu.world.events import Arrived, HidingChanged, LeftWorld, PlayedElsewhere, RankChanged
from tests.support.world.script_scenes import ScriptScene
from tests.support.world.worlds import WorldHarness


def test_every_component_exists_once_all_are_made() -> None:
    parts = WorldHarness().parts
    empty = [name for name, value in vars(parts).items() if value is None]
    assert sorted(empty) == ["edits", "scripts"], "this world has no content file"


def test_behaviors_and_scripts_share_what_moves_actors_and_lets_them_talk(
    tmp_path: Path,
) -> None:
    parts = ScriptScene(tmp_path).harness.parts
    assert parts.scripts is not None
    assert parts.scripts.moves is parts.minds.moves
    assert parts.scripts.conversations is parts.behaviors.conversations is parts.minds.conversations


def test_all_messages_have_a_handler_that_no_other_component_has() -> None:
    parts = WorldHarness().parts
    for name, rule in parts.messages.items():
        assert name.startswith("OP_")
        assert callable(rule.handler)
        assert rule.states
    with pytest.raises(ValueError, match="has a handler already"):
        parts.mail.register(parts.messages)


@pytest.mark.parametrize("kind", [Arrived, HidingChanged, LeftWorld, PlayedElsewhere, RankChanged])
def test_events_have_subscribers(kind: type[events.GameEvent]) -> None:
    assert WorldHarness().world.events._listeners[kind]


def test_the_names_of_players_and_zones_are_completed() -> None:
    harness = WorldHarness()
    harness.stand(5, name="Aldana")
    assert {"player", "zone"} <= harness.registry.known.keys()


def test_the_constructor_is_short() -> None:
    """A new subject adds a line or two, and no step of its own."""
    lines = inspect.getsource(Assembly.__init__).splitlines()
    assert len(lines) <= 35


def test_a_world_of_one_process_keeps_its_groups_to_itself() -> None:
    assert not WorldHarness().world.groups.is_shared
