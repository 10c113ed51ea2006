"""What `/api/` reports, and that its description is right."""

from __future__ import annotations

import json

from emu.admin.status import NO_ZONE, ListedWorldStatus, PlayerStatus, ServerStatus, ZoneStatus
from emu.admin.web import api
from emu.admin.web.api import Login
from emu.times import Monotonic


def status() -> ServerStatus:
    player = PlayerStatus(
        id=5, name="Aldana", level=3, race="Human", class_="Guardian", zone=0,
        since=Monotonic(90.0), ping=12, address="192.0.2.7", link_dead=False, game_master=False,
        x=1.5, y=-2.0, z=3.0,
    )  # fmt: skip
    elsewhere = PlayerStatus(
        id=6, name="Borvik", level=1, race="Ogre", class_="Commoner", zone=NO_ZONE,
        since=Monotonic(95.0), ping=0, address="192.0.2.8", link_dead=True, game_master=True,
    )  # fmt: skip
    return ServerStatus(
        taken=Monotonic(100.0), name="Norrath", game="EverQuest II", version="1", platform="linux",
        port=9100, since=Monotonic(40.5), locked=False, places=0, online=2, map="Isle of Refuge",
        map_file="tutorial_island02", worlds=(ListedWorldStatus("Norrath", True, False, 2),),
        zones=(ZoneStatus(325, 0, "Isle of Refuge", "tutorial_island02", 1, 0, 9, 12),),
        players=(player, elsewhere), rules=(("motd", "hi"),),
    )  # fmt: skip


def test_the_summary_counts() -> None:
    reported = api.summary(status())
    assert (reported["players"], reported["zones"], reported["uptime"]) == (2, 1, 59)
    assert reported["rules"] == {"motd": "hi"}


def test_players_have_their_zone_by_name_and_no_address() -> None:
    first, second = api.players(status())
    assert (first["zone"], first["zone_id"], first["instance"]) == ("Isle of Refuge", 325, 0)
    assert (first["x"], first["z"], first["online"]) == (1.5, 3.0, 10)
    assert (second["zone"], second["zone_id"]) == ("", None)
    assert "192.0.2" not in json.dumps(api.players(status()))


def test_logins_come_newest_first() -> None:
    entries = [
        Login(1.0, "a", 546, accepted=True),
        Login(2.0, "b", 561, accepted=False, reason="x"),
    ]
    assert [row["account"] for row in api.logins(entries)] == ["b", "a"]


def test_the_description_names_every_field_that_is_reported() -> None:
    described = api.openapi("1")
    assert described["openapi"] == "3.1.0"
    for path, rows in {
        "/api/worlds": api.worlds(status()),
        "/api/zones": api.zones(status()),
    }.items():
        answer = described["paths"][path]["get"]["responses"]["200"]
        schema = answer["content"]["application/json"]["schema"]
        assert set(schema["items"]["properties"]) == set(rows[0])
    shown = json.dumps(described)
    assert "address" not in shown
