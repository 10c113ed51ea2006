"""The status is what the services are, and is made once a second however many ask."""

import emu
from emu.admin.status import NO_ZONE
from emu.net.admin.status import StatusSource, worlds_of
from emu.times import Monotonic
from emu.world.behaviors.library import describe
from emu.world.behaviors.shipped import greeter
from emu.world.rules import AdmissionRules
from emu.worlds import WorldEntry
from tests.support.world.worlds import WorldHarness


def source_of(harness: WorldHarness) -> StatusSource:
    return StatusSource(
        lambda: "Qeynos", lambda: 9100, Monotonic(harness.now - 60),
        world=harness.world, admission=harness.admission, behaviors=harness.behaviors,
    )  # fmt: skip


def test_a_server_without_services_has_a_name_and_an_age() -> None:
    status = StatusSource(lambda: "Qeynos", lambda: 0, Monotonic(3.0)).status(Monotonic(10.0))
    assert (status.name, status.uptime, status.version) == ("Qeynos", 7.0, emu.__version__)
    assert (status.players, status.zones, status.worlds, status.map) == ((), (), (), "")
    assert (status.places, status.online, status.locked) == (0, 0, False)


def test_a_login_node_without_a_world_reports_the_faults_of_nodes() -> None:
    source = StatusSource(
        lambda: "Qeynos", lambda: 0, Monotonic(3.0), node_troubles=lambda: ["node east is lost"]
    )
    assert source.status(Monotonic(10.0)).troubles == ("node east is lost",)


def test_players_zones_rules_and_behaviors_are_reported() -> None:
    harness = WorldHarness()
    harness.admission.rules = AdmissionRules(max_players=12)
    harness.stand(1, name="Alice", level=7, class_=23, race=3)
    harness.stand(2, name="Bob", admin_status=100)
    status = source_of(harness).status(harness.now)
    alice, bob = status.players
    assert (alice.name, alice.level, alice.class_, alice.race) == ("Alice", 7, "Wizard", "Erudite")
    assert (alice.ping, alice.link_dead, alice.game_master) == (50, False, False)
    assert bob.game_master
    assert 0 <= harness.now - alice.since <= 1
    zone = status.zones[alice.zone]
    assert (zone.id, zone.instance, zone.players, zone.ping) == (325, 0, 2, 50)
    assert (status.map, status.map_file) == (zone.name, zone.file)
    assert (status.online, status.places, status.uptime >= 60) == (2, 12, True)
    assert dict(status.rules)["max_players"] == "12"
    assert "greeter" in [one.name for one in status.add_ons]


def test_somebody_between_two_zones_is_in_none() -> None:
    harness = WorldHarness()
    client = harness.stand(1)
    assert client.player is not None
    harness.zones.end(client.player.zone)
    (player,) = source_of(harness).status(harness.now).players
    assert player.zone == NO_ZONE


def test_with_nobody_there_the_map_is_a_zone_where_characters_begin() -> None:
    harness = WorldHarness()
    status = source_of(harness).status(harness.now)
    starts = {start.zone_id for rows in harness.atlas.starts for start in rows}
    assert status.map_file in {zone.file for zone in harness.atlas if zone.id in starts}


def test_a_status_is_kept_for_a_second_and_no_longer() -> None:
    harness = WorldHarness()
    source = source_of(harness)
    first = source.status(Monotonic(5000.0))
    harness.stand(1)
    assert source.status(Monotonic(5000.9)) is first
    assert len(source.status(Monotonic(5001.0)).players) == 1


def test_worlds_and_behaviors_in_the_words_of_the_status() -> None:
    (world,) = worlds_of([WorldEntry(1, "Antonia", up=True, locked=False, players=3)])
    assert (world.name, world.up, world.locked, world.players) == ("Antonia", True, False, 3)

    class Theirs:
        version = "2.1"

    Theirs.__module__ = "theirs.behaviors"
    assert describe("theirs", Theirs).version == "2.1"
    assert describe("theirs", Theirs).title == "theirs"
    assert describe("greeter", greeter.Greeter).version == emu.__version__
