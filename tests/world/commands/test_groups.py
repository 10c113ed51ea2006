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
    assert lines(one)[-1] == "Borvik does not want to join your group."
