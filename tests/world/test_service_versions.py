"""Every client version that has a table of opcodes, from 560 to the newest, beside one of 546."""

from __future__ import annotations

import pytest

from emu.opcodes import shipped_tables
from emu.opcodes.checks import ENTERING, NEEDED_TO_ENTER
from emu.versions import NEWEST_KNOWN
from emu.world.visibility.baselines import GhostBaseline
from emu.world.visibility.forms import read_rules
from tests.support.world.ghost_views import dialect, form
from tests.support.world.worlds import WorldHarness
from tests.support.world.zone_clients import player

FIRST = 560
VERSIONS = sorted(
    {
        version
        for first, last, table in shipped_tables().spans()
        for version in (first, last)
        if table.get(ENTERING) is not None and version >= FIRST
    }
)
STRUCTS = (
    "WS_ZoneInfo", "WS_CharacterSheet", "WS_SetControlGhost", "WS_GameWorldTime", "WS_HearChat",
    "WS_DefaultGroupOptions", "WS_WhoQueryReply", "WS_Camp", "WS_MoveClient", "WS_QuickBarInit",
    "LS_LoginResponse", "WS_SkillMap", "WS_Languages", "WS_TitleUpdate", "WS_ChatChannelUpdate",
)  # fmt: skip
"""Messages of a world that are sent as a struct."""


def test_the_versions_go_to_the_newest() -> None:
    assert VERSIONS[-1] == NEWEST_KNOWN
    assert len(VERSIONS) > 80


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_has_all_numbers_and_layouts(version: int) -> None:
    one = dialect(version)
    assert [name for name in NEEDED_TO_ENTER if one.table.get(name) is None] == []
    for name in STRUCTS:
        number, payload = one.message(name, {})
        assert number > 0
        assert payload
    baseline = GhostBaseline(player(7), form(version), own=False)
    assert len(baseline.create(2, 0)) > 40
    assert read_rules().for_version(version).words["afk"]


@pytest.mark.parametrize("version", sorted(set(VERSIONS[::4]) | {1096, 1208, 57080, 60114}))
def test_a_client_enters_and_sees_and_is_seen(harness: WorldHarness, version: int) -> None:
    old, new = harness.stand(5), harness.stand(6, version)
    harness.run(1.2)
    assert (old.sees(), new.sees()) == ({"Name6"}, {"Name5"})
    before = old.fields_of("Name6")
    for client, other in ((new, "Name6"), (old, "Name5")):
        assert client.player is not None
        at = client.player.position
        client.say(
            client.step_name, client.predictions.write(at.x + 1.0, at.y, at.z, direction1=90.0)
        )
        harness.run(0.5)
        seen = (old if client is new else new).fields_of(other)
        assert seen["pos_x"] == pytest.approx(at.x + 1.0)
        assert seen["pos_heading1"] == 90 * 64
    assert old.fields_of("Name6")["pos_x"] != before.get("pos_x", 0.0)
    assert new.player is not None
    assert not [reason for reason in new.player.client.drops if "unknown to version" in reason]
    harness.service.closed(new.player, new, "gone", harness.now)
