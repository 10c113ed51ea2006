from typing import Any

import pytest

from emu.admin.a2s.responder import info_of, players_of, rules_of
from tests.support.admin.statuses import server_status


def test_the_server_in_a_line() -> None:
    info = info_of(server_status())
    assert (info.name, info.map, info.game) == ("Qeynos", "qey_harbor", "EverQuest II")
    assert (info.players, info.places, info.port, info.system) == (2, 255, 9000, "l")
    assert info_of(server_status(platform="win32", locked=True)).system == "w"
    assert info_of(server_status(locked=True)).private


def test_numbers_that_are_too_large_for_a_byte_are_keywords_as_well() -> None:
    assert info_of(server_status(places=200)).keywords == "eq2,pve"
    keywords = info_of(server_status(online=300)).keywords
    assert keywords == "eq2,pve,players:300,places:500"


@pytest.mark.parametrize(
    ("online", "places", "shown"),
    [(3, 0, (3, 255)), (300, 0, (254, 255)), (300, 500, (254, 255)), (500, 500, (500, 255)),
     (49, 50, (49, 50)), (50, 50, (50, 50)), (60, 50, (60, 50))],
)  # fmt: skip
def test_a_server_looks_full_only_when_it_is(online: int, places: int, shown: Any) -> None:
    info = info_of(server_status(online=online, places=places, sessions=20000))
    assert (info.players, info.places) == shown


def test_players_with_their_level_and_time() -> None:
    bob, zoe = players_of(server_status())
    assert (bob.name, bob.score, bob.time) == ("Bob", 20, 300.0)
    assert zoe.name == "Zoë"


def test_rules_by_name_with_zones_behaviors_and_counts() -> None:
    rules = dict(rules_of(server_status(online=300)))
    assert rules["motd"] == "hi"
    assert (rules["players"], rules["uptime"]) == ("300", "1000")
    assert rules["zone qey_harbor 1"] == "1 player"
    assert rules["behavior greeter"] == "0.1.0"
    assert list(rules) == sorted(rules)
