"""Going elsewhere by command."""

from __future__ import annotations

import pytest

from tests.support.world.worlds import WorldHarness


def test_zone_sends_to_another_zone(harness: WorldHarness) -> None:
    one = harness.stand(5, admin_status=100)
    one.types("/zone antonica")
    assert "OP_ChangeZoneMsg" in one.names
    again = harness.stand(5)
    assert again.player.zone.zone_id == 12


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/zone nowhere", "there is no zone nowhere; zones lists them"),
        ("/goto Nobody", "there is no player Nobody in the world"),
        ("/move 1 2", "z is missing; usage: move X Y Z"),
        ("/move 1 2 1e9", "x, y and z: must be from -32000 to 32000"),
    ],
)
def test_refusals(line: str, answer: str) -> None:
    assert WorldHarness().stand(5, admin_status=100).types(line) == [answer]


def test_goto_and_summon_within_a_zone_and_beyond(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    near, far = harness.stand(6, name="Near"), harness.stand(7, name="Far", zone_id=12)
    near.player.spawn.move(near.player.position._replace(x=40.0))
    master.types("/goto Near")
    assert master.player.position.x == 40.0
    assert "OP_TeleportWithinZoneNoReloadMsg" in master.names
    master.types("/summon Far")
    assert "OP_ChangeZoneMsg" in far.names
    again = harness.stand(7)
    assert again.player.position.x == 40.0
    assert again.player.zone is master.player.zone


def test_move_and_location() -> None:
    one = WorldHarness().stand(5, admin_status=100)
    one.types("/move 10 -5.5 250")
    assert one.player.position[:3] == (10.0, -5.5, 250.0)
    assert one.types("/loc") == ["Isle of Refuge: 10.00, -5.50, 250.00, heading 92.0"]
    one.walk(11.0, -5.5, 250.0)
    assert one.player.position.x == 11.0
