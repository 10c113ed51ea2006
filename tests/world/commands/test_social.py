"""Commands to speak that do more than speak."""

from __future__ import annotations

from tests.support.world.worlds import WorldHarness


def test_hail_names_the_target(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6, name="Borvik")
    harness.run(0.5)
    one.types("/hail")
    one.say("OP_UpdateTargetMsg", b"\2\0")
    one.types("/hail")
    assert [text for _, _, text in two.hears()] == ["Hail", "Hail, Borvik"]
    one.types("/say Well met")
    # As recorded: a greeting has no bubble, other words do.
    assert [line["show_bubble"] for line in two.decoded("WS_HearChat")] == [0, 0, 1]
