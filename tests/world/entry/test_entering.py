"""From the key to standing in the zone, against the order and sizes that were recorded."""

from __future__ import annotations

import attrs
import pytest

from emu.world.zones.definitions import Atlas
from tests.support.world.worlds import SHIPPED, WorldHarness

BURST_546 = [
    "OP_PopulateSkillMapsMsg", "OP_LoginReplyMsg", "OP_QuickbarInitMsg",
    "OP_EqQuestJournalUpdateCmd", "OP_EqCollectionUpdateCmd", "OP_EqFactionUpdateCmd",
    "OP_SetRemoteCmdsMsg", "OP_KnownLanguagesMsg", "OP_ZoneInfoMsg",
    "OP_ChatRelationshipUpdateMsg", "OP_ChatRelationshipUpdateMsg",
]  # fmt: skip
"""docs/protocol/world/entering.md#order, without the message of the day."""


def test_the_burst_comes_in_the_recorded_order() -> None:
    client = WorldHarness().enter(5)
    assert client.names == BURST_546


@pytest.mark.parametrize(("version", "size"), [(546, 197), (561, 208)])
def test_zone_info_has_the_recorded_size(version: int, size: int) -> None:
    """197 and 208 are for names of six and seven letters.

    Source: docs/protocol/world/entering.md#order.
    """
    client = WorldHarness().enter(5, version, name="Aldana" if version == 546 else "Aldanas")
    [(_, payload)] = [entry for entry in client.log if entry[0] == "OP_ZoneInfoMsg"]
    website = len("eq2emulator.net") + len("test_upload.m") + len("dsya987yda9")
    assert len(payload) == size - website + len("localhost")
    [fields] = client.decoded("WS_ZoneInfo")
    assert fields["zone"] == "tutorial_island02"
    assert fields["zone_desc"] == "Isle of Refuge"
    assert fields["unknown3"] == [4294967296.0, 0.0]
    assert fields.get("unknown7") == (None if version == 546 else [1.0, 1.0])
    assert fields["num_adv"] == 9


@pytest.mark.parametrize(("version", "size"), [(546, 24), (561, 63)])
def test_the_reply_has_the_recorded_size(version: int, size: int) -> None:
    client = WorldHarness().enter(5, version)
    assert [len(data) for name, data in client.log if name == "OP_LoginReplyMsg"] == [size]


def test_each_step_is_answered_with_the_next(harness: WorldHarness) -> None:
    client = harness.enter(5)
    client.log.clear()
    client.say("OP_DoneLoadingZoneResourcesMsg")
    assert client.names == [
        "OP_MoveableObjectPlacementCriteri", "OP_GameWorldTimeMsg",
        "OP_DoneSendingInitialEntitiesMsg",
    ]  # fmt: skip
    assert client.log[0][1].hex() == "003c1c46" * 3
    client.log.clear()
    client.say("OP_DoneLoadingEntityResourcesMsg")
    assert client.names == [
        "OP_EqCreateGhostCmd", "OP_EqSetPOVGhostCmd", "OP_EqSetControlGhostCmd",
        "OP_EqSetControlGhostCmd", "OP_UpdateCharacterSheetMsg", "OP_UpdateSkillBookMsg",
        "OP_UpdateSpellBookMsg",
    ]  # fmt: skip
    assert [data.hex() for name, data in client.log if name == "OP_EqSetControlGhostCmd"] == [
        "01000000000000005c8f023fff", "ffffffff000000005c8f023f00",
    ]  # fmt: skip
    client.log.clear()
    client.say("OP_DoneLoadingUIResourcesMsg")
    assert client.log == [("OP_DoneLoadingUIResourcesMsg", b"")]
    client.log.clear()
    assert not client.player.viewer.is_ready
    client.signal()
    assert client.names == [
        "OP_UpdateInventoryMsg", "OP_UpdateInventoryMsg", "OP_TitleUpdateMsg",
        "OP_DefaultGroupOptionsMsg", "OP_UpdateRecipeBookMsg",
    ]  # fmt: skip
    assert ("OP_DefaultGroupOptionsMsg", bytes.fromhex("010001010000")) in client.log
    assert client.player.viewer.is_ready
    assert [event.line for event in harness.events] == [
        "Name5 from 127.0.0.1, client 546, entered Isle of Refuge"
    ]


@pytest.mark.parametrize(
    "steps",
    [
        ("OP_DoneLoadingEntityResourcesMsg",),
        ("OP_DoneLoadingZoneResourcesMsg",),
        ("OP_DoneLoadingZoneResourcesMsg", "OP_DoneLoadingEntityResourcesMsg"),
        ("OP_DoneLoadingUIResourcesMsg",),
        (),
        ("OP_DoneLoadingZoneResourcesMsg",) * 3 + ("OP_DoneLoadingEntityResourcesMsg",) * 3,
    ],
)
def test_a_client_that_skips_or_repeats_steps_stands_in_the_end(
    harness: WorldHarness, steps: tuple[str, ...]
) -> None:
    client = harness.enter(5)
    for step in steps:
        client.say(step)
    client.signal()
    client.signal()
    names = client.names
    for once in ("OP_EqCreateGhostCmd", "OP_UpdateCharacterSheetMsg", "OP_DefaultGroupOptionsMsg"):
        assert names.count(once) == 1
    placed = steps.count("OP_DoneLoadingZoneResourcesMsg") or 1
    assert names.count("OP_DoneSendingInitialEntitiesMsg") == placed
    assert names.index("OP_DoneSendingInitialEntitiesMsg") < names.index("OP_EqCreateGhostCmd")
    assert client.player.viewer.is_ready


def test_a_client_that_repeats_its_loading_is_answered_again(harness: WorldHarness) -> None:
    """Recorded: EQ2Emulator obeys a repeated 30 and 32 (docs/protocol/world/entering.md)."""
    client = harness.stand(5)
    harness.run(1.0)
    before = len(client.names)
    client.say("OP_DoneLoadingZoneResourcesMsg")
    assert client.names[before:] == [
        "OP_MoveableObjectPlacementCriteri", "OP_GameWorldTimeMsg",
        "OP_DoneSendingInitialEntitiesMsg",
    ]  # fmt: skip
    before = len(client.names)
    client.say("OP_DoneLoadingEntityResourcesMsg")
    assert client.names[before:] == ["OP_EqSetPOVGhostCmd", "OP_EqSetControlGhostCmd"]
    # The ghosts that the client has are the base of their changes, so none comes twice.
    client.player.spawn.sheet.health.set_current(1)
    harness.run(1.0)
    assert client.names.count("OP_EqCreateGhostCmd") == 1
    assert client.names[-1] == "OP_UpdateCharacterSheetMsg"


def test_two_clients_of_two_ages_see_each_other(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, 561, name="Cestra")
    harness.run(0.5)
    assert (one.sees(), two.sees()) == ({"Cestra"}, {"Aldana"})
    one.walk(2.5, -7.5, 240.0, speed=8.0)
    harness.run(0.2)
    seen = two.fields_of("Aldana")
    assert (seen["pos_x"], seen["pos_y"], seen["pos_z"]) == (2.5, -7.5, 240.0)
    assert seen["pos_speed"] == 2048


def test_the_message_of_the_day_comes_first_and_only_once() -> None:
    from emu.world.rules import WorldRules  # noqa: PLC0415

    client = WorldHarness(WorldRules(name="TestLabs", motd="Welcome")).enter(5)
    assert [row["text"] for row in client.decoded("WS_DisplayText")] == ["Welcome"]
    assert client.names.index("OP_EqDisplayTextCmd") == 3


def test_the_message_of_a_zone_is_narrative() -> None:
    """Recorded: real-entry-1208-start-fighter-priest."""
    zones = [attrs.evolve(zone, motd="Mind the gulls.") for zone in SHIPPED]
    client = WorldHarness(atlas=Atlas(zones, {}, SHIPPED.starts)).stand(5, 1208)
    shown = [(row["color"], row["text"]) for row in client.decoded("WS_DisplayText")]
    assert (12, "Zone MOTD: Mind the gulls.") in shown


def test_idle_players_are_sent_nothing(harness: WorldHarness) -> None:
    clients = [harness.stand(n) for n in range(5, 15)]
    harness.run(2.0)
    before = [len(client.log) for client in clients]
    harness.run(600.0)
    assert [len(client.log) for client in clients] == before
