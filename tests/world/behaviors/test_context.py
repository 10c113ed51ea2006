"""What actors stand on."""

from __future__ import annotations

from tests.support.world.worlds import WorldHarness


def test_who_stands_in_a_zone() -> None:
    harness = WorldHarness()
    client, _ = harness.stand(5, name="Aldana"), harness.stand(6, name="Far", zone_id=12)
    context, zone = harness.behaviors.context, client.player.zone
    assert [player.name for player in context.world.players.standing_in(zone)] == ["Aldana"]
    client.say("OP_RequestCampMsg", b"\1\1")
    assert context.world.players.standing_in(zone) == []


def test_what_comes_afterwards_comes_at_once_outside_of_calls() -> None:
    context, done = WorldHarness().behaviors.context, []  # type: ignore[var-annotated]
    context.afterwards(lambda: done.append(1))
    context.afterwards(lambda: done.append(2))
    assert done == [1, 2]
