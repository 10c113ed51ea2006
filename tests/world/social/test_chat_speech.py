"""Who hears what, against recorded bytes and rules."""

from __future__ import annotations

import pytest

from emu.dialects.dialect import read_numbers
from emu.times import Moment
from emu.world.rules import ChatRules
from emu.world.social.chat import Chat
from tests.support.world.worlds import Client, WorldHarness


def two(first: int = 546, second: int = 546) -> tuple[WorldHarness, Client, Client]:
    harness = WorldHarness()
    one, other = harness.stand(5, first, name="Borvik"), harness.stand(6, second, name="Aldana")
    harness.run(1.0)
    return harness, one, other


def heard(client: Client) -> str:
    return [payload.hex() for name, payload in client.log if name == "OP_EqHearChatCmd"][-1]


def test_say_has_the_recorded_bytes() -> None:
    """docs/protocol/world/recorded.md#examples: heard by Aldana, and Borvik's own copy; our index
    is 2, theirs 8.
    """
    _, borvik, aldana = two()
    borvik.types("/say Hello there")
    tail = "08000b00" + b"Hello there".hex() + "000001"
    assert heard(aldana) == (
        "000002000000ffffffff0600" + b"Borvik".hex() + "0600" + b"Aldana".hex() + tail
    )
    assert heard(borvik) == "000001000000ffffffff0600" + b"Borvik".hex() + "0000" + tail


def test_561_has_two_bytes_more() -> None:
    _, borvik, cestra = two(second=561)
    borvik.types("/say hi")
    assert heard(cestra).endswith("0200" + b"hi".hex() + "0000010100")


def test_report_has_the_recorded_bytes_for_both() -> None:
    _, borvik, aldana = two()
    borvik.types("/tell aldana psst")
    expected = (
        "0000" "ffffffff" "ffffffff" "0600" + b"Borvik".hex() + "0600" + b"Aldana".hex()
        + "1a000400" + b"psst".hex() + "000001"
    )  # fmt: skip
    assert heard(aldana) == heard(borvik) == expected


@pytest.mark.parametrize(
    ("version", "tail"), [(1096, ""), (1208, ""), (60114, "00"), (64753, "00")]
)
def test_a_tell_of_newer_clients_has_the_recorded_bytes(version: int, tail: str) -> None:
    """The recordings VERSION-two-players, of which the names are other ones."""
    _, borvik, aldana = two(version, version)
    borvik.types("/tell aldana psst")
    expected = (
        "0000" "ffffffff" "ffffffff" "0600" + b"Borvik".hex() + "0600" + b"Aldana".hex()
        + "00" "01000000" "00" "02000000" "1c000400" + b"psst".hex() + "0000010100" + tail
    )  # fmt: skip
    assert heard(aldana) == heard(borvik) == expected
    borvik.types("/say psst")
    assert "0600" + b"Aldana".hex() + "00" * 10 + "08000400" in heard(aldana)


def test_channels_have_the_recorded_bytes() -> None:
    _, borvik, aldana = two()
    borvik.types("/joinchannel Testchan")
    aldana.types("/joinchannel testchan")
    updates = [data.hex() for name, data in borvik.log if name == "OP_EqChatChannelUpdateCmd"]
    name = "0800" + b"Testchan".hex()
    # The 2006 client reads no name of a player here (its study, command 481).
    assert updates == ["00" + name, "02" + name]
    aldana.types("/tellchannel Testchan hi all")
    assert heard(borvik) == (
        "0000" "ffffffff" "ffffffff" "0600" + b"Aldana".hex() + "0600" + b"Borvik".hex()
        + "20000600" + b"hi all".hex() + name + "01"
    )  # fmt: skip
    borvik.types("/chatwho Testchan")
    [who] = borvik.decoded("WS_WhoChannelQueryReply")
    assert [row["player_name"] for row in who["player_array"]] == ["Borvik", "Aldana"]
    aldana.types("/chatleave Testchan")
    left = [data.hex() for name, data in borvik.log if name == "OP_EqChatChannelUpdateCmd"][-1]
    assert left == "03" + name


def test_say_and_emote_reach_30_units_and_shout_the_zone() -> None:
    harness, near, speaker = two()
    far = harness.stand(7)
    elsewhere = harness.stand(8, zone_id=12)
    far.player.spawn.move(far.player.position._replace(x=61.0))
    near.player.spawn.move(near.player.position._replace(x=20.0))
    for line, reached in (("/say a", False), ("/emote b", False), ("/shout c", True),
                          ("/ooc d", True)):  # fmt: skip
        speaker.types(line)
        assert bool(far.hears()) == reached, line
        assert near.hears()
        assert not elsewhere.hears()
    assert speaker.hears() == [
        ("8", "Aldana", "a"), ("10", "Aldana", "b"), ("9", "Aldana", "c"), ("30", "Aldana", "d"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/tell Nobody hi", "Unable to find client Nobody"),
        ("/tell Borvik hi", "You can't tell yourself anything"),
        ("/say ", "text is missing; usage: say TEXT"),
        ("/say \x01\x02", "there is nothing to say"),
        ("/tellchannel Nowhere hi", "you are not in a channel Nowhere"),
        ("/chatleave Nowhere", "you are not in a channel Nowhere"),
        ("/joinchannel " + "x" * 40, "a channel's name is a word of up to 32 letters"),
    ],
)
def test_refusals_are_shown_in_the_colour_of_errors(line: str, answer: str) -> None:
    _, borvik, _ = two()
    assert borvik.types(line) == [answer]
    [shown] = borvik.decoded("WS_DisplayText")
    assert shown == {"color": 3, "text": answer, "unknown02": 0xFF}


def test_an_ignored_player_is_not_heard() -> None:
    harness, borvik, aldana = two()
    aldana.types("/ignore borvik")
    borvik.types("/say hello")
    borvik.types("/shout hello")
    assert borvik.types("/tell Aldana hello") == ["Aldana ignores you"]
    assert aldana.hears() == []
    harness.run(3.0)
    assert harness.store.rows[6].relations == ((2, "Borvik"),)
    lists = [data for name, data in aldana.log if name == "OP_ChatRelationshipUpdateMsg"]
    # The 2006 client reads two texts for each name (its study, message 162).
    assert lists[-1].hex() == "6a00000002010000000600" + b"Borvik".hex() + "0000"
    aldana.types("/unignore Borvik")
    borvik.types("/say hello")
    assert aldana.hears() == [("8", "Borvik", "hello")]


def test_who_is_away_answers_by_itself() -> None:
    _, borvik, aldana = two()
    aldana.types("/afk at dinner")
    borvik.types("/tell Aldana hello")
    assert borvik.hears() == [("26", "Borvik", "hello"), ("26", "Aldana", "at dinner")]


def test_another_rate_counts_at_once() -> None:
    harness, borvik, aldana = two()
    assert not borvik.types("/say one")
    harness.chat.rules = ChatRules(burst=1)
    borvik.types("/say two")
    assert borvik.types("/say three") == ["you speak too fast"]
    assert len(aldana.hears()) == 2


def test_speaking_fast_is_slowed_down() -> None:
    harness, borvik, aldana = two()
    answers = [borvik.types(f"/say {n}") for n in range(500)]
    assert len(aldana.hears()) == ChatRules().burst
    assert answers[-1] == ["you speak too fast"]
    harness.run(5.0)
    assert borvik.types("/say again") == []


def test_a_long_text_is_cut_and_other_letters_come_through() -> None:
    _, borvik, aldana = two()
    borvik.types("/say " + "ä" * 30_000)
    [(_, _, text)] = aldana.hears()
    assert text.encode("latin-1").decode() == "ä" * ChatRules().longest


def test_who_is_muted_cannot_speak_until_it_is_over() -> None:
    harness, borvik, _ = two()
    assert harness.console("mute Borvik 5").text == "Borvik is muted for 5 minutes"
    assert borvik.types("/shout hello") == ["you are muted"]
    assert harness.store.rows[5].muted_until > harness.world.clock.moment()
    assert harness.console("unmute Borvik").ok
    assert borvik.types("/shout hello") == []


@pytest.mark.parametrize("moment", [-1.0, -86_400.0, -2e9])
def test_a_clock_before_1970_mutes_only_who_was_muted(moment: float) -> None:
    harness, borvik, aldana = two(second=561)
    harness.moment = Moment(moment)
    assert borvik.types("/shout hello") == []
    assert aldana.types("/shout hello") == []
    assert harness.console("mute Borvik 5").ok
    harness.moment = Moment(moment + 299.0)
    assert borvik.types("/shout hello") == ["you are muted"]
    assert aldana.types("/say hello") == []
    harness.moment = Moment(moment + 300.0)
    assert borvik.types("/shout hello") == []


def test_who_is_gone_leaves_its_channels() -> None:
    _, borvik, aldana = two()
    for client in (borvik, aldana):
        client.types("/joinchannel Trade")
    borvik.say("OP_RequestCampMsg", b"\1\1")
    assert aldana.decoded("WS_ChatChannelUpdate")[-1]["action"] == 3
    assert aldana.harness.chat.channels.find("trade").members == {6: None}


def test_a_creature_is_heard_near_it() -> None:
    harness, borvik, _ = two()
    guard = borvik.player.spawn
    chat: Chat = harness.chat
    chat.spawn_says(guard, harness.world.players, "Halt!")
    assert borvik.hears() == [("8", "Borvik", "Halt!")]


def test_broadcast_and_announce_reach_all() -> None:
    harness, borvik, aldana = two()
    assert harness.console("broadcast The end is near").text == "sent to 2 players"
    for client in (borvik, aldana):
        assert client.decoded("WS_DisplayText")[-1]["color"] == 77
    harness.console("announce Now")
    # The layout that was recorded: 10, text, type, size 5, yellow
    # (docs/protocol/world/recorded.md#examples).
    assert [data.hex() for name, data in borvik.log if name == "OP_OnscreenMsgMsg"] == [
        "0a0300" + b"Now".hex() + "1100" + b"ui_harvest_normal".hex() + "0000a040ffff00"
    ]


def test_numbers_of_every_age() -> None:
    """docs/protocol/world/chat.md#hear-chat: tell 26, ooc 30, custom 32, broadcast 77 up to 561."""
    numbers = read_numbers()
    old = {name: numbers.number(name, 546) for name in ("say", "tell", "ooc", "custom",
                                                        "broadcast", "error")}  # fmt: skip
    assert old == {"say": 8, "tell": 26, "ooc": 30, "custom": 32, "broadcast": 77, "error": 3}
    assert numbers.number("tell", 1208) == 28


def test_channels_are_entered_again_at_the_next_login() -> None:
    harness, borvik, aldana = two()
    borvik.types("/joinchannel Crafts secret")
    aldana.types("/joinchannel crafts secret")
    harness.console("kick Aldana")
    again = harness.stand(aldana.player.id)
    assert [
        (row["action"], row["channel_name"]) for row in again.decoded("WS_ChatChannelUpdate")
    ] == [(0, "Crafts")]
    again.types("/chatleave crafts")
    harness.console("kick Aldana")
    once_more = harness.stand(aldana.player.id)
    assert once_more.decoded("WS_ChatChannelUpdate") == []


def test_a_channel_that_was_closed_meanwhile_is_forgotten() -> None:
    harness, borvik, aldana = two()
    aldana.types("/joinchannel Crafts mine")
    harness.console("kick Aldana")
    borvik.types("/joinchannel Crafts yours")
    again = harness.stand(aldana.player.id)
    assert again.decoded("WS_ChatChannelUpdate") == []
    harness.run(3.0)
    assert harness.store.rows[aldana.player.id].channels == ()


def test_a_player_back_from_link_death_is_sent_its_channels_again() -> None:
    harness, borvik, aldana = two()
    aldana.types("/joinchannel Crafts")
    borvik.types("/joinchannel Crafts")
    harness.service.closed(aldana.player, aldana, "gone", harness.now)
    before = len(borvik.decoded("WS_ChatChannelUpdate"))
    again = harness.stand(aldana.player.id)
    assert [row["action"] for row in again.decoded("WS_ChatChannelUpdate")] == [0]
    assert len(borvik.decoded("WS_ChatChannelUpdate")) == before, "it never left"
