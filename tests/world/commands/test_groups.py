"""Groups as players use them."""

from __future__ import annotations

from typing import Any

import pytest

from emu.structs.packed import unpack, xor
from emu.world.actors.sheet import ShownPet, SpellMarks
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.entry.leaving import LeaveReason
from emu.world.groups.groups import INVITATION
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
    assert one.types("/invite borvik") == ["You invite Borvik to group with you."]
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
    far.types("/leavegroup")
    assert lines(two)[-1] == "Cestra has left the group."
    assert two.types("/leavegroup") == ["You have left the group"]
    assert not any(row["name"].strip("\0") for row in sheet(one)["group_members"])
    assert one.types("/gsay alone") == ["you are in no group"]


CLOSED = ("OP_CloseGroupInviteWindowMsg", b"")
"""Row 330 of the study of the 2006 client: an empty message that closes the invitation."""


@pytest.mark.parametrize(("answer", "closes"), [("", 1), ("/accept", 0), ("/decline", 0)])
def test_the_window_of_an_invitation_closes_when_it_is_not_valid_any_more(
    harness: WorldHarness, answer: str, closes: int
) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    one.types("/invite borvik")
    if answer:
        two.types(answer)
    harness.run(INVITATION - 1.0)
    assert CLOSED not in two.log
    harness.run(2.0)
    assert two.log.count(CLOSED) == closes
    assert CLOSED not in one.log


def test_who_camps_keeps_the_place_in_the_group_for_a_minute(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik", level=12)
    one.types("/invite borvik")
    two.types("/accept")
    two.say("OP_RequestCampMsg", b"\1\1")
    harness.run(55.0)
    assert harness.world.players.get(6) is None
    assert one.types("/group") == ["Aldana leads", "Aldana, Borvik"]
    assert [name for row in sheet(one)["group_members"] if (name := row["name"].strip("\0"))] == [
        "Borvik"
    ]
    again = harness.stand(6, name="Borvik", level=12)
    harness.run(2.0)
    assert again.types("/group") == ["Aldana leads", "Aldana, Borvik"]
    for client, other in ((one, again), (again, one)):
        row = sheet(client)["group_members"][0]
        assert client.player is not None
        assert other.player is not None
        assert row["spawn_id"] == client.player.index_of(other.player.spawn)
    one.types("/gsay welcome back")
    assert again.hears() == [("15", "Aldana", "welcome back")]
    # The minute begins anew with the next time, and the camp of a client that stays counts as well.
    again.say("OP_RequestCampMsg", b"\0\0")
    harness.run(20.5 + 60.0)
    assert harness.world.players.get(6) is None
    assert one.types("/group") == ["Aldana leads", "Aldana, Borvik"]
    harness.run(5.0)
    assert lines(one)[-1] == "Borvik has left the group."
    assert one.types("/group") == ["you are in no group"]


def test_who_is_sent_away_loses_the_place_in_the_group_at_once(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    one.types("/invite borvik")
    two.types("/accept")
    assert two.player is not None
    harness.departures.leave(two.player, LeaveReason.SENT_AWAY, harness.now)
    assert lines(one)[-1] == "Borvik has left the group."
    assert one.types("/group") == ["you are in no group"]


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
    assert three.types("/disband") == ["You have left the group"]
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
    assert lines(last)[-1] == "Namec has joined the raid."
    last.types("/raidsay forward")
    assert [client.hears() for client in players[:2]] == [[("16", "Named", "forward")]] * 2
    assert "raid of 2 groups: Namea, Nameb, Namec, Named" in first.types("/whogroup")
    assert second.types("/kickfromraid Namea") == ["only the leader of a raid may do that"]
    assert first.types("/kickfromraid Named") == ["the group of Named is no longer in your raid"]
    assert lines(last)[-1] == "Namea has removed your group from the raid."
    assert first.types("/raidsay alone") == ["you are in no raid"]


def shown(client: Client) -> list[tuple[int, str]]:
    return [(row["color"], row["text"]) for row in client.decoded("WS_DisplayText")]


@pytest.mark.parametrize(
    ("version", "color", "offer"),
    [
        # `fight-546-ward-a`: the inviter is called Fyvfeg there.
        (546, 79, "01 0600 467976666567 00 0000"),
        # `1208-two-players`, `60114-two-players`: Aldanahnat, Aldanaivat.
        (1208, 94, "01 0a00 416c64616e61686e6174 00 01 0000"),
        (60114, 94, "01 0a00 416c64616e6169766174 00 01 0000"),
    ],
)
def test_an_invitation_has_the_recorded_window_texts_and_colors(
    harness: WorldHarness, version: int, color: int, offer: str
) -> None:
    recorded = bytes.fromhex(offer)
    name = recorded[3 : 3 + recorded[1]].decode()
    one = harness.stand(5, version, name=name)
    two = harness.stand(6, version, name="Borvik")
    one.types("/invite Borvik")
    assert shown(one)[-1] == (color, "You invite Borvik to group with you.")
    assert [data for kind, data in two.log if kind == "OP_EqReceiveOfferCmd"] == [recorded]
    two.types("/acceptinvite")
    assert shown(two)[-1] == (14, "You have joined the group.")
    assert shown(one)[-1] == (14, "Borvik has joined the group.")
    two.types("/leavegroup")
    assert shown(two)[-1] == (14, "You have left the group")


def test_who_goes_afk_is_shown_to_those_near_who_may_see_and_hear_it(harness: WorldHarness) -> None:
    """`561-two-players`, `1096-two-players`: the line of those near is sent to oneself, too."""
    one, two, far, deaf = (
        harness.stand(number, name=name)
        for number, name in ((5, "Aldana"), (6, "Borvik"), (7, "Cestra"), (8, "Dorwin"))
    )
    far.player.spawn.move(far.player.position._replace(x=far.player.position.x + 60))
    deaf.types("/ignore Aldana")
    before = [lines(client) for client in (two, far, deaf)]
    assert one.types("/afk") == ["You are now afk.", "Aldana is going afk."]
    assert one.types("/afk") == ["You are no longer afk."]
    assert [lines(client) for client in (two, far, deaf)] == [
        [*before[0], "Aldana is going afk."], before[1], before[2],
    ]  # fmt: skip
    assert shown(two)[-1] == (5, "Aldana is going afk.")


def test_a_hidden_player_goes_afk_unseen(harness: WorldHarness) -> None:
    master, two = harness.stand(5, name="Boss", admin_status=200), harness.stand(6, name="Borvik")
    master.types("/hide")
    before = lines(two)
    assert "Boss is going afk." in master.types("/afk")
    assert lines(two) == before


def test_status_texts_are_the_recorded_ones(harness: WorldHarness) -> None:
    """`1208-two-players`, t=42 to 46."""
    one = harness.stand(5)
    texts = [one.types(line) for line in ("/anon", "/lfg", "/anon", "/lfg")]
    assert texts == [
        ["You are now anonymous."], ["You are now LFG."], ["You are no longer anonymous."],
        ["You are no longer LFG."],
    ]  # fmt: skip
    assert {color for color, _ in shown(one)[-4:]} == {5}


def group_of_three(harness: WorldHarness, coins: int = 10_000) -> list[Client]:
    clients = [
        harness.stand(number, name=name, coins=coins)
        for number, name in ((5, "Aldana"), (6, "Borvik"), (7, "Cestra"))
    ]
    for guest in clients[1:]:
        clients[0].types(f"/invite {guest.player.name}")
        guest.types("/accept")
    return clients


def test_coins_are_shared_and_none_are_lost(harness: WorldHarness) -> None:
    one, two, three = group_of_three(harness)
    (line,) = one.types("/split 10s 1c")
    assert line == "You give 3 Silver 33 Copper to each of 2 members of your group."
    assert shown(two)[-1] == (69, "Your share is 3 Silver 33 Copper.")
    coins = [harness.store.rows[number].coins for number in (5, 6, 7)]
    assert coins == [9334, 10_333, 10_333]
    assert sum(coins) == 30_000
    assert [client.player.character.coins for client in (one, two, three)] == coins
    harness.run(0.1)
    assert (sheet(two)["coins_gold"], sheet(two)["coins_silver"]) == (1, 3)


def test_four_numbers_are_the_four_coins(harness: WorldHarness) -> None:
    one, *_ = group_of_three(harness)
    one.types("/split 0 0 3 0")
    assert harness.store.rows[6].coins == 10_100


def test_coins_that_cannot_be_shared_stay(harness: WorldHarness) -> None:
    one, two, three = group_of_three(harness)
    assert one.types("/split 3g") == ["you do not have that many coins"]
    assert one.types("/split 2c") == ["that is too little to share"]
    for text in ("x", "1x", "-5", "p", "99999999999", "1 2 3 4 5 x", "4294967296"):
        assert "coins" in one.types(f"/split {text}")[0]
    harness.store.broken = True
    assert one.types("/split 9c") == ["the coins cannot be shared now; try again"]
    harness.store.broken = False
    assert [harness.store.rows[number].coins for number in (5, 6, 7)] == [10_000] * 3
    two.types("/leavegroup")
    three.types("/leavegroup")
    assert one.types("/split 9c") == ["you are in no group"]


def test_only_members_in_the_zone_get_a_share(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana", coins=100)
    far = harness.stand(6, name="Borvik", zone_id=12, coins=100)
    one.types("/invite Borvik")
    far.types("/accept")
    assert one.types("/split 50c") == ["no member of your group is here"]


@pytest.mark.parametrize("version", [546, 1208, 60114])
def test_the_window_of_a_group_shows_harm_and_pets(version: int) -> None:
    """The fields of a member (eq2-combat.md 2.2), of which EQ2Emulator fills some wrongly."""
    harness = WorldHarness()
    one, two = harness.stand(5, version, name="Aldana"), harness.stand(6, name="Borvik")
    assert one.player is not None
    assert two.player is not None
    one.types("/invite borvik")
    two.types("/accept")
    pet = Spawn(
        harness.world.zones.next_spawn_id(), SpawnKind.NPC, "a hawk", one.player.position
    )  # fmt: skip
    one.player.zone.add_spawn(pet, harness.now)
    harness.run(0.3)
    marks = two.player.spawn.sheet.spells = SpellMarks()
    marks.detriments, marks.pet = (1, 2, 3, 4), ShownPet(pet.id, stays=False)
    row = harness.parts.sheets.fields(one.player)["group_members"][0]
    names = ("trauma_count", "arcane_count", "noxious_count", "elemental_count")
    assert [row[name] for name in names] == [1, 2, 3, 4]
    assert row["pet_id"] == one.player.index_of(pet)
