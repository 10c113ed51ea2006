"""Lines of what happens in the world."""

from __future__ import annotations

from emu.world.reports import GroupsOrdered, PlayerEntered, PlayerLeft, PlayerRefused


def test_lines() -> None:
    assert PlayerEntered("A", 1, "::1", 546, "Antonica").line == (
        "A from ::1, client 546, entered Antonica"
    )
    assert PlayerLeft("A", "Antonica", "camped").line == "A left Antonica: camped"
    assert GroupsOrdered("east").line == "groups: the node east orders their changes"
    assert PlayerRefused("A", "::1", "x").level == "warn"
