"""The teleporter, as players meet it."""

from __future__ import annotations

from tests.support.world.behavior_scenes import choose, hail, scene


def test_the_teleporter_asks_first() -> None:
    harness, client, guard = scene("teleporter", {"zone": "antonica", "place": [1, 2, 3]})
    hail(client, guard)
    choose(client, 2)
    assert "OP_ChangeZoneMsg" not in client.names
    hail(client, guard)
    choose(client, 1)
    assert "OP_ChangeZoneMsg" in client.names
    again = harness.stand(5)
    assert again.player.zone.zone_id == 12
    assert again.player.position[:3] == (1, 2, 3)


def test_the_teleporter_within_a_zone() -> None:
    _, client, guard = scene("teleporter", {"place": [20, -5, 240]})
    hail(client, guard)
    choose(client, 1)
    assert client.player.position[:3] == (20, -5, 240)


def test_it_begins_without_options() -> None:
    harness, client, guard = scene("teleporter", {})
    hail(client, guard)
    harness.run(20.0)
    assert not [event for event in harness.events if type(event).__name__ == "BehaviorFailed"]
