"""Every command is there, is explained, and answers."""

from __future__ import annotations

import pytest

from tests.support.world.worlds import WorldHarness

WANTED = {
    "who", "tell", "zone", "goto", "summon", "move", "kick", "ban", "unban", "mute", "broadcast",
    "announce", "motd", "lock", "unlock", "save", "players",
    "zones", "spawn", "despawn", "help",
}  # fmt: skip


def test_all_that_are_wanted_are_there_with_help(harness: WorldHarness) -> None:
    found = {command.name for command in harness.registry}
    assert found >= WANTED
    assert all(command.help for command in harness.registry)
    assert len(harness.console("help").lines) == len(harness.console("help").data)


def test_every_use_is_reported_with_its_result(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana")
    harness.console("kick Aldana")
    harness.console("kick Aldana")
    assert [(use.caller, use.origin, use.line, use.result, use.ok) for use in harness.uses] == [
        ("console", "console", "kick Aldana", "Aldana was disconnected", True),
        ("console", "console", "kick Aldana", "there is no player Aldana in the world", False),
    ]


@pytest.mark.parametrize("line", sorted(WANTED))
def test_no_line_raises(harness: WorldHarness, line: str) -> None:
    harness.stand(5, name="Aldana")
    for rest in ("", " Aldana", " x y z", " 1 2 3", " nan nan nan", ' "', " 99999999999999999999"):
        harness.console(line + rest)
