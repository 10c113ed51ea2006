from emu.admin.a2s.content import info_of, players_of, rules_of
from tests.support.statuses import server_status


def test_the_server_in_a_line() -> None:
    info = info_of(server_status())
    assert (info.name, info.map, info.game) == ("Qeynos", "qey_harbor", "EverQuest II")
    assert (info.players, info.places, info.port, info.system) == (2, 500, 9000, "l")
    assert info_of(server_status(platform="win32", locked=True)).system == "w"
    assert info_of(server_status(locked=True)).private


def test_numbers_that_are_too_large_for_a_byte_are_keywords_as_well() -> None:
    assert info_of(server_status(places=200)).keywords == "eq2,pve"
    keywords = info_of(server_status(online=300)).keywords
    assert keywords == "eq2,pve,players:300,places:500"
    assert info_of(server_status(places=0)).places == 255


def test_players_with_their_level_and_time() -> None:
    bob, zoe = players_of(server_status())
    assert (bob.name, bob.score, bob.time) == ("Bob", 20, 300.0)
    assert zoe.name == "Zoë"


def test_rules_by_name_with_zones_behaviors_and_counts() -> None:
    rules = dict(rules_of(server_status(online=300)))
    assert rules["motd"] == "hi"
    assert (rules["players"], rules["uptime"]) == ("300", "1000")
    assert rules["zone qey_harbor 1"] == "1 players"
    assert rules["behavior greeter"] == "0.1.0"
    assert list(rules) == sorted(rules)
