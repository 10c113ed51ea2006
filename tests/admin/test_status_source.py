"""The shape that exporters and bots for Source servers parse."""

from __future__ import annotations

import re
from dataclasses import replace

from emu.admin.status import PlayerStatus, ServerStatus, duration, status_lines

PLAYER = PlayerStatus(
    id=7, name="Aldana", level=3, race="Ogre", class_="Guardian", zone=0, since=40.0, ping=25,
    address="192.0.2.7", link_dead=False, game_master=False,
)  # fmt: skip
STATUS = ServerStatus(
    taken=100.0, name="TestLabs", game="EverQuest II", version="1.0", platform="linux", port=9100,
    since=0.0, locked=False, places=500, online=1, map="The Isle", map_file="isle",
    players=(PLAYER,),
)  # fmt: skip


def test_tools_find_what_they_look_for() -> None:
    text = "\n".join(status_lines(STATUS))
    assert re.search(r"^hostname\s*: (.*)$", text, re.MULTILINE)[1] == "TestLabs"  # type: ignore[index]
    assert re.search(r"^version\s*: (\S+)", text, re.MULTILINE)[1] == "1.0"  # type: ignore[index]
    assert re.search(r"^map\s*: (.*)$", text, re.MULTILINE)[1].startswith("isle at: ")  # type: ignore[index]
    found = re.search(r"^players\s*: (\d+) humans, (\d+) bots \((\d+) max\)", text, re.MULTILINE)
    assert found is not None
    assert found.groups() == ("1", "0", "500")
    row = re.search(
        r'^#\s*(\d+) "(.*)" (\S+) ([\d:]+) (\d+) (\d+) (\w+) (\S+)$', text, re.MULTILINE
    )
    assert row is not None
    assert row.groups() == ("7", "Aldana", "EQ2:7", "01:00", "25", "0", "active", "192.0.2.7")


def test_durations() -> None:
    assert [duration(one) for one in (0, 59.9, 3599, 3600, 90_061)] == [
        "00:00", "00:59", "59:59", "1:00:00", "25:01:01",
    ]  # fmt: skip


def test_without_a_limit_the_port_shows_how_many_fit() -> None:
    (line,) = (
        one for one in status_lines(replace(STATUS, places=0, sessions=20000)) if "max" in one
    )
    assert line == "players : 1 humans, 0 bots (20000 max)"
