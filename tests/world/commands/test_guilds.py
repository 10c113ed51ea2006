"""Guilds as players use them."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.errors import STORE_FAULT
from emu.guilds import LEADER, RECRUIT, Guild, GuildChange, MemberFlag, Permission
from emu.world.hiding import set_hidden
from tests.support.coroutines import finish
from tests.support.world.worlds import Client, WorldHarness

NEWER = 1208


def lines(client: Client) -> list[str]:
    return [row["text"] for row in client.decoded("WS_DisplayText")]


def window(client: Client) -> dict[str, Any]:
    """What the client's window has last: the guild and the members by name."""
    guild = client.decoded("WS_GuildUpdate")[-1]
    rows = client.decoded("WS_GuildMembershipResponse")[-1]["member_array"]
    members = {row["name"]: row for row in rows}
    return {**guild, "members": members}


def under_name(client: Client, other: Client) -> str:
    """The guild that a client shows under another player's name now."""
    assert other.player is not None
    if client.dialect.version <= 561:
        return str(client.fields_of(other.player.name).get("guild", ""))
    titles = client.decoded("WS_UpdateTitle")
    own = [row for row in titles if row["player_name"] == other.player.name]
    return str(own[-1]["guild"])


def two_wolves(harness: WorldHarness, version: int = 546) -> tuple[Client, Client]:
    one = harness.stand(5, version, name="Aldana", level=20)
    two = harness.stand(6, version, name="Borvik", level=12)
    one.types("/guild create The Wolves")
    one.types("/guild invite Borvik")
    two.types("/guild accept")
    return one, two


@pytest.mark.parametrize("version", [546, 561, 1096, 1208, 60114])
def test_a_guild_from_its_founding_to_its_end(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version, name="Aldana", level=20)
    two = harness.stand(6, version, name="Borvik", level=12)
    harness.run(0.5)
    assert one.types("/guild create The Wolves") == ["you lead the guild The Wolves now"]
    assert one.types("/guild invite Borvik") == ["Borvik is invited to The Wolves"]
    offer = two.decoded("WS_ReceiveOffer")[-1]
    assert (offer["type"], offer["name"], offer["guild_name"]) == (2, "Aldana", "The Wolves")
    assert two.types("/guild accept")[-1] == "you are a member of The Wolves now"
    assert lines(one)[-1] == "Borvik has joined the guild, invited by Aldana."
    for client in (one, two):
        shown = window(client)
        assert (shown["guild_name"], shown["guild_id"]) == ("The Wolves", 1)
        assert [row["name"] for row in shown["ranks"]][:2] == ["Leader", "Senior Officer"]
        ranks = {name: row["rank"] for name, row in shown["members"].items()}
        assert ranks == {"Aldana": LEADER, "Borvik": RECRUIT}
        assert shown["members"]["Borvik"]["adventure_level"] == 12
        assert shown["members"]["Borvik"]["zone"] == "Isle of Refuge"
    harness.run(0.5)
    assert under_name(two, one) == "<The Wolves>"
    one.types("/guildsay hello wolves")
    assert two.hears() == [("18", "Aldana", "hello wolves")]
    assert one.types("/guild kick Borvik")[-1] == "Aldana has removed Borvik from the guild."
    assert two.decoded("WS_LeaveGuildNotify")[-1]["character_id"] == 6
    assert two.types("/guildsay hello") == ["you are in no guild"]
    harness.run(0.5)
    assert under_name(one, two) == ""
    one.types("/guild leave")
    assert harness.guilds.rows == {}


def test_a_member_without_a_window_of_guilds_hears_its_guild(harness: WorldHarness) -> None:
    """373 has no structs of guilds in EQ2Emulator's files; its players can be members."""
    one = harness.stand(5, name="Aldana", level=20)
    two = harness.stand(6, 373, name="Borvik", level=12)
    one.types("/guild create The Wolves")
    one.types("/guild invite Borvik")
    assert two.types("/guild accept")[-1] == "you are a member of The Wolves now"
    assert window(one)["members"].keys() == {"Aldana", "Borvik"}
    one.types("/guildsay hello wolves")
    assert two.hears()[-1][1:] == ("Aldana", "hello wolves")


def test_who_comes_and_goes(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    one.types("/guild motd Meet at the inn")
    assert lines(two)[-1] == "Guild MOTD: Meet at the inn"
    two.say("OP_RequestCampMsg", b"\1\1")
    harness.run(30.0)
    assert lines(one)[-1] == "Guildmate: Borvik has logged out."
    assert one.decoded("WS_JoinGuildNotify")[-1]["zone"] == ""
    again = harness.stand(6, NEWER)
    assert lines(one)[-1] == "Guildmate: Borvik has logged in."
    assert one.decoded("WS_JoinGuildNotify")[-1]["zone"] == "Isle of Refuge"
    assert "Guild MOTD: Meet at the inn" in lines(again)
    assert window(again)["members"]["Aldana"]["zone"] == "Isle of Refuge"
    one.types("/guild notify_online false")
    assert window(again)["members"]["Aldana"]["member_flags"] == MemberFlag.NOTIFY_LOGINS
    assert again.decoded("WS_JoinGuildNotify")[-1]["member_flags"] == 0
    before = len(lines(one))
    again.say("OP_RequestCampMsg", b"\1\1")
    harness.run(30.0)
    assert len(lines(one)) == before, "the member has chosen not to be shown"


def test_a_hidden_member_is_absent_for_its_guild(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    set_hidden(harness.world, two.player, hidden=True)
    assert lines(one)[-1] == "Guildmate: Borvik has logged out."
    assert one.decoded("WS_JoinGuildNotify")[-1]["zone"] == ""
    assert one.types("/guild")[0] == "The Wolves: 2 members, 1 in the world"
    set_hidden(harness.world, two.player, hidden=False)
    assert lines(one)[-1] == "Guildmate: Borvik has logged in."


def test_ranks(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    assert two.types("/guild promote Aldana") == ["your rank, Recruit, may not do that"]
    assert one.types("/guild promote Borvik") == ["Aldana has promoted Borvik to Initiate."]
    assert window(two)["members"]["Borvik"]["rank"] == RECRUIT - 1
    assert one.types("/guild rank_name 6 Cub") == ["rank 6 is called Cub now"]
    assert window(two)["ranks"][6]["name"] == "Cub"
    bit = 1 << Permission.INVITE
    assert not window(two)["ranks"][6]["permissions"][0] & bit
    one.types("/guild rank_permission 6 0 true")
    assert window(two)["ranks"][6]["permissions"][0] & bit
    one.types("/guild rank_permission 6 20 false")
    harness.run(0.5)
    assert under_name(one, two) == "", "the rank may not show the name any more"
    one.types("/guild demote Borvik")
    harness.run(0.5)
    assert under_name(one, two) == "<The Wolves>"
    assert one.types("/guild leave") == ["promote another member to leader first"]
    assert one.types("/guild kick Aldana") == ["promote another member to leader first"]


def test_only_some_ranks_hear_officers_and_see_their_notes(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    assert one.types("/set_guild_officer_note Borvik watch him") == ["the officers' note is set"]
    assert one.decoded("WS_JoinGuildNotify")[-1]["officer_note"] == "watch him"
    assert two.decoded("WS_JoinGuildNotify")[-1]["officer_note"] == ""
    assert two.types("/set_guild_member_note Borvik Bakes bread") == ["the note is set"]
    assert one.decoded("WS_JoinGuildNotify")[-1]["note"] == "Bakes bread"
    assert two.types("/set_guild_member_note Aldana x") == ["your rank, Recruit, may not do that"]
    one.types("/officersay secret")
    assert (one.hears(), two.hears()) == ([("19", "Aldana", "secret")], [])
    assert two.types("/officersay what") == ["your rank, Recruit, may not do that"]
    one.types("/guild demote Borvik")
    assert window(two)["members"]["Borvik"]["officer_note"] == ""


def test_invitations_that_are_refused(harness: WorldHarness) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    assert one.types("/guild invite Borvik") == ["you are in no guild"]
    assert one.types("/guild accept") == ["nobody has invited you to a guild"]
    one.types("/guild create The Wolves")
    assert two.types("/guild create the wolves") == ["there is a guild the wolves already"]
    assert one.types("/guild create Another") == ["you are in a guild already"]
    two.types("/ignore Aldana")
    assert one.types("/guild invite Borvik") == ["Borvik ignores you"]
    two.types("/unignore Aldana")
    one.types("/guild invite Borvik")
    assert one.types("/guild invite Borvik") == ["that player is invited to a guild already"]
    assert two.types("/guild decline") == ["you declined to join The Wolves"]
    assert lines(one)[-1] == "Borvik declines your invitation to The Wolves."
    assert two.types("decline_guilds") == ["You decline invitations to guilds now."]
    assert one.types("/guild invite Borvik") == ["Borvik declines such invitations"]
    assert two.types("/guild accept") == ["nobody has invited you to a guild"]
    two.types("decline_guilds")
    assert one.types("/guild invite Borvik") == ["Borvik is invited to The Wolves"]
    assert one.types("/guild recruiting short_text x") == [
        "guild recruiting is not on this server."
    ]


def test_operators_list_show_rename_and_delete(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    assert harness.console("guild list").lines == ("1 guild", "1: The Wolves, 2 members")
    assert harness.console('guild show "the wolves"').lines[1:] == (
        "Aldana, Leader, level 20, in IsleRefuge1", "Borvik, Recruit, level 12, in IsleRefuge1"
    )  # fmt: skip
    assert harness.console("guild rename 1 The Bears").text == "The Wolves is called The Bears now"
    assert window(two)["guild_name"] == "The Bears"
    assert harness.console("guild delete 1").text == "The Bears is deleted"
    assert two.types("/guild") == ["you are in no guild"]
    assert lines(one)[-1] == "The guild The Bears was disbanded."
    assert harness.console("guild show 1").text == "there is no guild 1; guild list shows them"


def test_what_a_full_disk_refuses(harness: WorldHarness) -> None:
    one, two = two_wolves(harness)
    harness.guilds.broken = True
    assert one.types("/guild kick Borvik") == [STORE_FAULT]
    one.types("/guildsay we are still two")
    assert two.hears() == [("18", "Aldana", "we are still two")]
    harness.guilds.broken = False
    assert one.types("/guild kick Borvik")[-1].startswith("Aldana has removed")


@pytest.mark.parametrize("version", [546, 1208])
def test_who_lists_the_members_of_the_own_guild(harness: WorldHarness, version: int) -> None:
    one, _two = two_wolves(harness, version)
    harness.stand(7, name="Cenwyn")
    one.types("/who guild")
    rows = one.decoded("WS_WhoQueryReply")[-1]["characters_array"]
    assert sorted(row["char_name"].strip("\0") for row in rows) == ["Aldana", "Borvik"]
    one.types("/who all")
    rows = one.decoded("WS_WhoQueryReply")[-1]["characters_array"]
    assert len(rows) == 3
    if version == NEWER:
        guilds = {row["char_name"].strip("\0"): row["guild"].strip("\0") for row in rows}
        assert guilds == {"Aldana": "The Wolves", "Borvik": "The Wolves", "Cenwyn": ""}
    one.types("/guild leave")
    other = harness.stand(8, name="Dorlas")
    assert other.types("/who guild") == ["you are in no guild"]


def test_a_change_of_another_program_is_found(harness: WorldHarness) -> None:
    _one, two = two_wolves(harness)
    memberships = harness.command_context.memberships
    change = GuildChange(name="The Bears")
    finish(harness.guilds.save_change(1, harness.guilds.rows[1].revision, change))
    finish(memberships.review())
    assert window(two)["guild_name"] == "The Bears"
    reads = harness.guilds.reads
    finish(memberships.review())
    assert harness.guilds.reads == reads + 1, "an unchanged guild is not read"
    del harness.guilds.rows[1]
    finish(memberships.review())
    assert two.types("/guild") == ["you are in no guild"]
    finish(memberships.review())
    assert harness.guilds.reads == reads + 3, "no guild, nothing to compare"


def test_commands_of_one_player_wait_for_each_other(
    harness: WorldHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    stored: Deferred[None] = Deferred()
    create = harness.guilds.create

    async def slow(guild: Guild) -> Guild:
        await stored
        return await create(guild)

    monkeypatch.setattr(harness.guilds, "create", slow)
    harness.start = Deferred.fromCoroutine
    for line in ("guild create The Wolves", "guild motd Hi", "guild promote Nobody"):
        assert one.types(f"/{line}") == []
    assert two.types("/guild accept") == ["nobody has invited you to a guild"]
    for _ in range(30):
        one.types("/guildsay hello")
    assert lines(one)[-1] == "wait a moment"
    stored.callback(None)
    # Each does its work after the one before; the answers may come later.
    assert {
        "you lead the guild The Wolves now", "Guild MOTD: Hi", "Nobody is no member of The Wolves"
    } <= set(lines(one))  # fmt: skip
    assert one.types("/guild motd") == ["the guild has no MOTD now"]


@pytest.mark.parametrize(
    "line",
    [
        "guild invite Cestra", "guild create The Foxes", "guild rank_name 7 Pup",
        "guild motd Hi", "set_guild_member_note Borvik Bakes", "set_guild_officer_note Borvik Late",
    ],
)  # fmt: skip
def test_a_muted_member_writes_nothing_that_others_read(harness: WorldHarness, line: str) -> None:
    one, _ = two_wolves(harness)
    harness.stand(7, name="Cestra")
    before = harness.guilds.rows[1]
    harness.console("mute Aldana 10")
    assert one.types(f"/{line}")[-1] == "you are muted"
    assert harness.guilds.rows == {1: before}
    harness.console("unmute Aldana")
    assert "you are muted" not in one.types(f"/{line}")
