"""Options of players: declined invitations, what is shown, the last name; stored for later."""

from __future__ import annotations

import pytest

from emu.world.actors.options import DEFAULT_FLAGS
from tests.support.world.worlds import Client, WorldHarness


def again(harness: WorldHarness, one: Client) -> Client:
    """Log a player out and in again."""
    assert one.player is not None
    char_id = one.player.id
    one.say("OP_RequestCampMsg", b"\1\1")
    return harness.stand(char_id)


def test_a_declined_invitation_is_refused_also_in_the_next_session(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    assert other.types("decline_groups") == ["You decline invitations to groups now."]
    other = again(harness, other)
    assert one.types("invite Borvik") == ["Borvik declines such invitations"]
    assert harness.store.rows[6].options == "decline_groups"
    assert other.types("decline_groups") == ["You accept invitations to groups now."]
    assert one.types("invite Borvik") == ["You invite Borvik to group with you."]


def test_a_declined_invitation_to_a_raid_and_to_a_guild(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana"), harness.stand(6, name="Borvik")
    harness.stand(7, name="Cenwyn").types("invite Borvik")
    other.types("accept")
    harness.stand(8, name="Dorlas").types("invite Aldana")
    one.types("accept")
    other.types("decline_raids")
    other.types("decline_guilds")
    [leader] = [one for one in harness.world.players if one.name == "Dorlas"]
    assert leader.id == harness.world.groups.table.own(5).leader
    assert one.types("raidinvite Borvik") == ["Borvik declines such invitations"]
    one.types("/guild create The Wolves")
    assert one.types("/guild invite Borvik") == ["Borvik declines such invitations"]


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_the_sheet_of_every_version_has_the_options(harness: WorldHarness, version: int) -> None:
    one = harness.stand(5, version)
    before = one.names.count("OP_UpdateCharacterSheetMsg")
    one.types("decline_trades")
    assert one.names.count("OP_UpdateCharacterSheetMsg") == before + 1
    fields = harness.command_context.sheets.fields(one.player)
    assert fields["flags"] == DEFAULT_FLAGS - (1 << 21)
    assert fields["flags_show_trade_invites"] == 0


@pytest.mark.parametrize("version", [546, 561, 1208, 60114])
def test_the_sheet_says_who_is_away(harness: WorldHarness, version: int) -> None:
    """Recorded in 561-, 1208- and 60114-two-players: the flags are 301482049, behind the lines."""
    one = harness.stand(5, version)
    for flags in (DEFAULT_FLAGS + (1 << 14), DEFAULT_FLAGS):
        before = len(one.log)
        one.types("afk")
        names = [name for name, _ in one.log[before:] if "Text" in name or "Sheet" in name]
        assert names[-1] == "OP_UpdateCharacterSheetMsg"
        assert "OP_EqDisplayTextCmd" in names
        fields = harness.command_context.sheets.fields(one.player)
        assert (fields["flags"], fields["flags_afk"]) == (flags, int(flags != DEFAULT_FLAGS))


@pytest.mark.parametrize(
    ("line", "answer", "stored"),
    [
        ("showhood false", "Your hood: hidden.", "hide_hood"),
        ("showhood", "Your hood: hidden.", "hide_hood"),
        ("showhoodorhelm false", "Your hood and helmet: hidden.", "hide_helm hide_hood"),
        ("showcloak", "Your cloak: shown.", "show_cloak"),
        ("showcloak false", "Your cloak: hidden.", ""),
        ("showranged true", "Your ranged weapon: shown.", "show_ranged"),
        ("hide_illusions", "Illusions: hidden.", "hide_illusions"),
        ("hide_achievements true", "Your achievements: hidden.", "hide_achievements"),
        ("disable_combat_exp", "You decline experience of fights now.", "no_combat_exp"),
    ],
)
def test_what_a_player_shows_is_stored(
    harness: WorldHarness, line: str, answer: str, stored: str
) -> None:
    one = harness.stand(5)
    assert one.types(line) == [answer]
    harness.run(3.0)
    assert harness.store.rows[5].options == stored


def test_others_see_a_hidden_hood_and_who_looks_for_work(harness: WorldHarness) -> None:
    one, near = harness.stand(5, 1208, name="Aldana"), harness.stand(6, 1208)
    for line in ("showhood false", "lfw"):
        one.types(line)
    harness.run(1.0)
    fields = near.fields_of("Aldana")
    assert fields["visual_flag"] == 2
    assert fields["activity_status"] & 0x400000


def test_a_status_comes_back_with_the_player(harness: WorldHarness) -> None:
    one = harness.stand(5, name="Aldana")
    assert one.types("roleplaying") == ["You are now roleplaying."]
    one.types("anon")
    again(harness, one)
    assert {"roleplaying", "anonymous"} <= harness.world.players.get(5).spawn.words
    assert harness.presence.named("Aldana").anonymous


def test_a_last_name_is_proposed_and_confirmed(harness: WorldHarness) -> None:
    one, near = harness.stand(5, name="Aldana"), harness.stand(6)
    assert one.types("confirmedlastname") == ["propose a name first: lastname NAME"]
    assert one.types("lastname x1")[0] == "a last name has only letters"
    assert one.types("lastname ab")[0] == "a last name has 3 to 19 letters"
    assert "Oakheart" in one.types("lastname oakHEART")[0]
    assert one.types("confirmedlastname") == ["You are Aldana Oakheart now."]
    harness.run(3.0)
    assert near.fields_of("Aldana")["last_name"] == "Oakheart"
    assert harness.store.rows[5].last_name == "Oakheart"
    one.types("lastname none")
    assert one.types("confirmedlastname") == ["You have no last name any more."]
