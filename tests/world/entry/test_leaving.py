"""Camping, quitting, losing the link, changing the zone, and what is stored of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from twisted.internet.defer import Deferred

from emu.model import SavedState
from emu.world.actors.player import PlayerDeadline, PlayerState
from emu.world.actors.spawn import Destination
from emu.world.entry.leaving import SAVE_TIME
from emu.world.zones.directory import NoSuchZone
from emu.world_stream.movement import Position
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


def test_camping_takes_20_seconds_and_is_seen(harness: WorldHarness) -> None:
    """`14 00` and the end after 20 s, docs/protocol/world/recorded.md#examples."""
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.log.clear()
    one.say("OP_RequestCampMsg", bytes(2))
    assert one.log == [("OP_CampStartedMsg", b"\x14\0")]
    harness.run(0.2)
    assert two.fields_of("Name5")["camping"] == 1
    assert two.fields_of("Name5")["activity_status"] == 8
    harness.run(19.7)
    assert not one.is_closed
    harness.run(0.2)
    assert one.is_closed
    assert harness.world.players.get(5) is None
    assert two.sees() == set()
    assert harness.presence.find(5) is None


@pytest.mark.parametrize(
    ("version", "asked", "answer"),
    [
        (1096, "0000000000000000", "140001010020000000"),
        (1208, "000000000000000000", "1400010100200000000000000000"),
        (64753, "000000000000000000", "1400010100200000000000000000"),
        # Not recorded: what the client asks for.
        (1208, "000100000000000000", "1401000100200000000000000000"),
        (1208, "000000000000000001", "1400000100200000000000000001"),
        (1208, "000001000000000001", "1400010100200000000000000001"),
    ],
)
def test_camping_of_newer_clients_leads_to_the_characters(
    harness: WorldHarness, version: int, asked: str, answer: str
) -> None:
    """`VERSION-two-players`: a request without any flag is one for the characters."""
    one = harness.stand(5, version)
    one.say("OP_RequestCampMsg", bytes.fromhex(asked))
    assert one.log[-1] == ("OP_CampStartedMsg", bytes.fromhex(answer))


@pytest.mark.parametrize("message", ["OP_CampAbortedMsg", "OP_StandMsg", "OP_StoodMsg"])
def test_camping_is_aborted_by_standing_up(harness: WorldHarness, message: str) -> None:
    one = harness.stand(5)
    one.say("OP_RequestCampMsg", bytes(2))
    one.log.clear()
    one.say(message)
    assert ("OP_CampAbortedMsg", b"") in one.log
    harness.run(60.0)
    assert not one.is_closed
    assert "camping" not in one.player.spawn.words
    one.log.clear()
    one.say(message)
    assert "OP_CampAbortedMsg" not in one.names


def test_an_empty_request_counts_as_both_zero_and_quitting_is_at_once(
    harness: WorldHarness,
) -> None:
    one, two = harness.stand(5), harness.stand(6)
    one.say("OP_RequestCampMsg")
    assert one.names[-1] == "OP_CampStartedMsg"
    two.say("OP_RequestCampMsg", b"\1\1")
    assert two.is_closed
    assert "OP_CampStartedMsg" not in two.names
    for number, body in ((7, b"\1\0"), (8, b"\0\1")):
        other = harness.stand(number)
        other.say("OP_RequestCampMsg", body)
        assert (other.names[-1], other.is_closed) == ("OP_CampStartedMsg", False)


def test_a_zone_with_rules_of_its_own_has_other_times(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    world = harness.world
    assert one.player is not None
    assert two.player is not None
    here = replace(world.rules, camp=3.0, link_dead=7.0)
    world.rules = replace(world.rules, zones={one.player.zone.zone_id: here})
    one.say("OP_RequestCampMsg", bytes(2))
    assert ("OP_CampStartedMsg", b"\3\0") in one.log
    harness.service.closed(two.player, two, "gone", harness.now)  # type: ignore[arg-type]
    harness.run(3.1)
    assert one.is_closed
    assert world.players.get(6) is not None
    harness.run(4.0)
    assert world.players.get(6) is None


def test_a_game_master_camps_for_a_second(harness: WorldHarness) -> None:
    one = harness.stand(5, admin_status=100)
    one.say("OP_RequestCampMsg", bytes(2))
    assert ("OP_CampStartedMsg", b"\1\0") in one.log
    harness.run(1.1)
    assert one.is_closed


def hold_saves(harness: WorldHarness) -> Deferred[None]:
    """Let saves wait for the result that is returned."""
    pending: Deferred[None] = Deferred()
    save = harness.store.save_character

    async def held(char_id: int, state: SavedState, **_how: bool) -> None:
        await pending
        await save(char_id, state)

    harness.store.save_character = held  # type: ignore[method-assign]
    harness.start = Deferred.fromCoroutine
    return pending


@pytest.mark.parametrize("body", [b"\1\1", bytes(2)], ids=["quit", "camp"])
def test_the_session_ends_when_the_last_save_is_stored(harness: WorldHarness, body: bytes) -> None:
    """So what a client is confirmed survives a crash directly after it."""
    one = harness.stand(5)
    pending = hold_saves(harness)
    one.say("OP_RequestCampMsg", body)
    harness.run(0.0 if body == b"\1\1" else 20.1)
    assert harness.world.players.get(5) is None
    assert not one.is_closed
    pending.callback(None)
    assert one.is_closed
    assert harness.world.players.deadlines.get(one.player, PlayerDeadline.CLOSING) is None


def test_a_store_that_does_not_answer_keeps_nobody_longer_than_two_seconds(
    harness: WorldHarness,
) -> None:
    one = harness.stand(5)
    pending = hold_saves(harness)
    one.say("OP_RequestCampMsg", b"\1\1")
    harness.run(SAVE_TIME - 0.1)
    assert not one.is_closed
    harness.run(0.2)
    assert one.is_closed
    pending.callback(None)
    assert harness.store.saves[-1].char_id == 5


def test_a_client_that_ends_its_session_itself_leaves_no_deadline(harness: WorldHarness) -> None:
    one = harness.stand(5)
    pending = hold_saves(harness)
    one.say("OP_RequestCampMsg", b"\1\1")
    harness.service.closed(one.player, one, "closed by peer", harness.now)
    assert not len(harness.world.players.deadlines._deadlines)
    pending.callback(None)


def test_who_loses_the_link_stays_two_minutes_and_is_seen_so(harness: WorldHarness) -> None:
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    harness.service.closed(one.player, one, "peer silent", harness.now)
    harness.run(0.2)
    seen = two.fields_of("Name5")
    assert (seen["linkdead"], seen["activity_status"]) == (1, 4)
    assert not harness.presence.is_playing(105)
    assert harness.presence.find(5) is not None
    harness.run(119.0)
    assert two.sees() == {"Name5"}
    harness.run(2.0)
    assert two.sees() == set()
    assert harness.presence.find(5) is None


def test_who_comes_back_in_time_keeps_body_and_index(harness: WorldHarness) -> None:
    """docs/protocol/world/entering.md#denials: same index, no new ghost, all messages again."""
    one, two = harness.stand(5), harness.stand(6)
    one.walk(5.0, 1.0, 250.0)
    harness.run(0.5)
    index = two.player.index_of(one.player.spawn)
    harness.service.closed(one.player, one, "peer silent", harness.now)
    harness.run(60.0)
    created = two.names.count("OP_EqCreateGhostCmd")
    again = harness.stand(5)
    harness.run(1.0)
    assert again.player is one.player
    assert "OP_PopulateSkillMapsMsg" in again.names
    assert again.sees() == {"Name6"}
    assert two.player.index_of(again.player.spawn) == index
    assert two.names.count("OP_EqCreateGhostCmd") == created
    assert "linkdead" not in two.fields_of("Name5")
    harness.run(300.0)
    assert harness.world.players.get(5) is again.player
    again.walk(6.0, 1.0, 251.0)
    harness.run(0.2)
    assert two.fields_of("Name5")["pos_x"] == 6.0


def test_a_second_session_of_a_character_closes_the_first(harness: WorldHarness) -> None:
    first = harness.stand(5)
    second = harness.stand(5)
    assert first.is_closed
    harness.service.closed(first.player, first, "closed", harness.now)
    assert second.player.state is PlayerState.STANDING


def test_another_version_of_client_loads_the_character_anew(harness: WorldHarness) -> None:
    first, other = harness.stand(5), harness.stand(6)
    second = harness.stand(5, 561)
    harness.run(1.0)
    assert first.is_closed
    assert second.player is not first.player
    assert other.sees() == {"Name5"}
    assert second.sees() == {"Name6"}


def test_who_goes_before_it_stands_is_gone_at_once(harness: WorldHarness) -> None:
    one = harness.enter(5)
    harness.service.closed(one.player, one, "gone", harness.now)
    assert harness.world.players.get(5) is None
    assert harness.presence.find(5) is None


def test_the_place_is_kept_to_the_centimetre(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.walk(12.34, -7.89, 250.12, direction1=90.0)
    one.say("OP_RequestCampMsg", b"\1\1")
    row = harness.store.rows[5]
    assert row.place == pytest.approx((12.34, -7.89, 250.12, 270.0, 0), abs=1e-4)
    again = harness.stand(5)
    assert again.player.position == row.place


def test_players_are_saved_every_minute(harness: WorldHarness) -> None:
    one = harness.stand(5)
    one.walk(3.0, 1.0, 245.0)
    harness.run(61.0)
    assert harness.store.rows[5].place[:3] == (3.0, 1.0, 245.0)
    one.walk(4.0, 1.0, 245.0)
    harness.run(60.0)
    assert harness.store.rows[5].place[0] == 4.0


def test_a_store_that_fails_is_reported_and_harms_nobody(harness: WorldHarness) -> None:
    one = harness.stand(5)
    harness.store.broken = True
    harness.run(61.0)
    assert not one.is_closed
    assert "not saved" in harness.events[-1].line


def test_changing_the_zone(harness: WorldHarness) -> None:
    """The recorded order: text, ChangeZone, CancelMoveObjectMode; then ReadyToZone ends it."""
    one, two = harness.stand(5), harness.stand(6)
    harness.run(0.5)
    one.log.clear()
    to = Destination(12, Position(1, 2, 3, 90.0))
    finish(harness.departures.change_zone(one.player, to))
    assert one.names == ["OP_EqDisplayTextCmd", "OP_ChangeZoneMsg", "OP_CancelMoveObjectModeMsg"]
    [fields] = one.decoded("WS_ZoneChangeMsg")
    assert fields == {"account_id": 105, "key": 1000, "ip_address": "127.0.0.1", "port": 9001}
    assert one.log[-1][1] == bytes(4)
    assert two.sees() == set()
    one.say("OP_ReadyToZoneMsg")
    assert one.is_closed
    harness.service.closed(one.player, one, "closed", harness.now)
    assert harness.world.players.get(5) is one.player
    assert harness.store.rows[5].zone_id == 12
    again = harness.stand(5)
    assert again.player is one.player
    assert again.player.zone.zone_id == 12
    assert again.player.position[:4] == (1, 2, 3, 90.0)
    assert "OP_PopulateSkillMapsMsg" not in again.names
    assert [row["zone"] for row in again.decoded("WS_ZoneInfo")] == ["antonica"]
    harness.run(200.0)
    assert again.player.state is PlayerState.STANDING


def test_who_does_not_arrive_is_stored_where_it_went(harness: WorldHarness) -> None:
    one = harness.stand(5)
    to = Destination(12, Position(1, 2, 3))
    finish(harness.departures.change_zone(one.player, to))
    harness.run(61.0)
    assert harness.world.players.get(5) is None
    assert (harness.store.rows[5].zone_id, harness.store.rows[5].place[:3]) == (12, (1, 2, 3))
    assert harness.presence.find(5) is None


def test_an_unknown_zone_leaves_everything_as_it_was(harness: WorldHarness) -> None:
    one = harness.stand(5)
    to = Destination(9, Position(1, 2, 3))
    with pytest.raises(NoSuchZone):
        finish(harness.departures.change_zone(one.player, to))
    assert one.player.state is PlayerState.STANDING


def test_ready_to_zone_without_reason_ends_the_session(harness: WorldHarness) -> None:
    """docs/protocol/world/movement.md#bad-predictions."""
    one = harness.stand(5)
    one.say("OP_ReadyToZoneMsg")
    assert one.is_closed


def test_an_empty_zone_ends_after_a_while(harness: WorldHarness) -> None:
    one = harness.stand(5)
    assert len(harness.zones) == 1
    one.say("OP_RequestCampMsg", b"\1\1")
    harness.run(299.0)
    assert len(harness.zones) == 1
    harness.run(2.0)
    assert len(harness.zones) == 0
    assert harness.world.timetable.get_timer() is None
