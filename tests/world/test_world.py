"""The forms in which a world shows spawns to clients."""

from __future__ import annotations

from emu.content.models import Model, StandIns
from tests.support.world.worlds import WorldHarness


def test_clients_of_one_version_share_a_form(harness: WorldHarness) -> None:
    one, two, other = harness.stand(5), harness.stand(6), harness.stand(7, 561)
    forms = [client.player.viewer.form for client in (one, two, other)]
    assert forms[0] is forms[1] is not forms[2]


def test_the_form_of_a_version_has_the_stand_ins_of_that_version(harness: WorldHarness) -> None:
    goblin, snow = Model(145, "ec/goblin", 283), Model(7039, "ec/goblin_snow", 547)
    harness.parts.entries._forms._stand_ins = StandIns([snow], [goblin, snow])
    old, new = harness.stand(5), harness.stand(6, 561)
    assert old.player.viewer.form.stand_ins == {7039: 145}
    assert new.player.viewer.form.stand_ins == {}
