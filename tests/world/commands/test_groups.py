"""Groups as players use them."""

from __future__ import annotations

from typing import Any

from emu.structs.packed import unpack, xor
from tests.support.world.worlds import Client, WorldHarness


def sheet(client: Client) -> dict[str, Any]:
    """The character sheet as the client has it now."""
    layout = client.dialect.layout("WS_CharacterSheet")
    last = bytes(layout.empty_size())
    for name, payload in client.log:
        if name == "OP_UpdateCharacterSheetMsg":
            delta, _ = unpack(payload, len(last), client.dialect.version)
            last = xor(delta, last)
    return layout.decode(last)


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def test_a_group_from_invitation_to_end(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    two = harness.stand(6, name="Borvik", level=12)
    far = harness.stand(7, name="Cestra", zone_id=12)
    harness.run(0.5)
    assert one.types("/invite borvik") == ["Borvik is invited to your group"]
    assert lines(two)[-1] == "Aldana invites you to a group: accept or decline."
    two.types("/accept")
    one.types("/invite Cestra")
    far.types("/accept")
    members = [row for row in sheet(one)["group_members"] if row["name"].strip("\0")]
    assert [row["name"].strip("\0") for row in members] == ["Borvik", "Cestra"]
    assert (members[0]["level_current"], members[0]["spawn_id"]) == (12, 2)
    assert members[1]["spawn_id"] == 0xFFFFFFFF
    assert (members[0]["zone_status"], members[1]["zone_status"]) == (1, 0)
    assert (sheet(one)["group_leader_id"], sheet(two)["group_leader_id"]) == (1, 2)
    one.types("/gsay hello all")
    assert far.hears() == [("15", "Aldana", "hello all")]
    assert one.types("/group") == ["Aldana leads", "Aldana, Borvik, Cestra"]
    far.say("OP_RequestCampMsg", b"\1\1")
    assert lines(two)[-1] == "Cestra has left the group."
    assert two.types("/leavegroup") == ["you left the group"]
    assert not any(row["name"].strip("\0") for row in sheet(one)["group_members"])
    assert one.types("/gsay alone") == ["you are in no group"]


def test_refusals(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    assert one.types("/accept") == ["nobody has invited you"]
    assert one.types("/group") == ["you are in no group"]
    two.types("/ignore Aldana")
    assert one.types("/invite Borvik") == ["Borvik ignores you"]
    two.types("/unignore Aldana")
    one.types("/invite Borvik")
    assert two.types("/decline") == ["you declined"]
    assert lines(one)[-1] == "Borvik declines your invitation."


def test_the_leader_names_another_and_removes_members(harness: WorldHarness) -> None:
    one, two, three = (
        harness.stand(number, name=name)
        for number, name in ((5, "Aldana"), (6, "Borvik"), (7, "Cestra"))
    )
    harness.run(0.5)
    for guest in (two, three):
        one.types(f"/invite {guest.player.name}")
        guest.types("/acceptinvite")
    assert two.types("/kickfromgroup Cestra") == ["only the leader of a group may do that"]
    one.types("/makeleader Borvik")
    assert lines(three)[-1] == "Borvik leads the group now."
    assert sheet(three)["group_leader_id"] == three.player.index_of(two.player.spawn)
    assert two.types("/kickfromgroup Borvik") == ["that player is no other member of your group"]
    assert two.types("/kickfromgroup Cestra")[-1] == "Cestra is no longer in your group"
    assert "Borvik has removed you from the group." in lines(three)
    assert three.types("/whogroup") == ["you are in no group"]


def test_only_the_leader_ends_the_group(harness: WorldHarness) -> None:
    one, two, three = (
        harness.stand(number, name=name)
        for number, name in ((5, "Aldana"), (6, "Borvik"), (7, "Cestra"))
    )
    for guest in (two, three):
        one.types(f"/invite {guest.player.name}")
        guest.types("/accept")
    assert three.types("/disband") == ["you left the group"]
    assert one.types("/disband") == ["you disbanded the group"]
    assert lines(two)[-1] == "Aldana has disbanded the group."
    assert two.types("/whogroup") == ["you are in no group"]


def test_a_raid_from_invitation_to_end(harness: WorldHarness) -> None:
    players = [harness.stand(5 + n, name=f"Name{'abcd'[n]}") for n in range(4)]
    for leader, member in (players[:2], players[2:]):
        leader.types(f"/invite {member.player.name}")
        member.types("/accept")
    first, _, second, last = players
    assert last.types("/raidinvite Namea") == ["only the leader of a group may do that"]
    assert first.types("/raidinvite Named") == ["the group of Named is invited to your raid"]
    assert lines(second)[-1] == "Namea invites your group to a raid: accept or decline."
    second.types("/acceptinvite")
    assert lines(last)[-1] == "Namec is in the raid now."
    last.types("/raidsay forward")
    assert [client.hears() for client in players[:2]] == [[("16", "Named", "forward")]] * 2
    assert "raid of 2 groups: Namea, Nameb, Namec, Named" in first.types("/whogroup")
    assert second.types("/kickfromraid Namea") == ["only the leader of a raid may do that"]
    assert first.types("/kickfromraid Named") == ["the group of Named is no longer in your raid"]
    assert lines(last)[-1] == "Namea has removed your group from the raid."
    assert first.types("/raidsay alone") == ["you are in no raid"]
