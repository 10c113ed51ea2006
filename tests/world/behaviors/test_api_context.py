"""What actors stand on."""

from __future__ import annotations

from emu.world.behaviors.running import TICK, RunningBehavior
from tests.support.world.worlds import WorldHarness


def test_who_stands_in_a_zone_and_what_is_armed() -> None:
    harness = WorldHarness()
    client, _ = harness.stand(5, name="Aldana"), harness.stand(6, name="Far", zone_id=12)
    context, zone = harness.behaviors.context, client.player.zone
    assert [player.name for player in context.world.players.standing_in(zone)] == ["Aldana"]
    behavior = RunningBehavior("greeter", {}, zone, None)
    context.arm(behavior, TICK, 2.0)
    assert context.deadlines.get(behavior, TICK) == context.now + 2.0
    client.say("OP_RequestCampMsg", b"\1\1")
    assert context.world.players.standing_in(zone) == []
