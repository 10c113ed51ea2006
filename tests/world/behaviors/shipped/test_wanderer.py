"""The wanderer, as players meet it."""

from __future__ import annotations

from tests.support.world.behavior_scenes import hail, scene


def test_the_wanderer_walks_its_round_and_stops_for_a_hail() -> None:
    harness, client, guard = scene(
        "wanderer", {"path": [[10, -7.97, 243.45], [3, -7.97, 243.45]], "rest": 1.0, "speed": 2.0}
    )
    harness.run(2.0)
    assert 3.0 < guard.position.x <= 10.0
    hail(client, guard)
    at = guard.position.x
    harness.run(0.8)
    assert guard.position.x == at
    assert ("8", "Guard Vexel", "Move along, Aldana.") in client.hears()
    seen = set()
    for _ in range(60):
        harness.run(0.5)
        seen.add(round(guard.position.x))
    assert {3, 10} <= seen


def test_it_begins_without_options() -> None:
    harness, client, guard = scene("wanderer", {})
    hail(client, guard)
    harness.run(20.0)
    assert not [event for event in harness.events if type(event).__name__ == "BehaviorFailed"]
