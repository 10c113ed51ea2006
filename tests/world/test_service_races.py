"""Two things at once: whoever comes second finds the world in order, and so do the others."""

from __future__ import annotations

import struct
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from emu.world.actors.player import MOST_NAMES, PlayerState
from emu.world.actors.spawn import Destination
from tests.support.world.worlds import Client, WorldHarness

QUIT = bytes((1, 1))


def camp(client: Client) -> None:
    client.say("OP_RequestCampMsg", b"\0\0")


def ready_to_zone(client: Client) -> None:
    client.say("OP_ReadyToZoneMsg")


def two(rank: int = 100) -> tuple[WorldHarness, Client, Client]:
    harness = WorldHarness()
    one = harness.stand(5, name="Aldana", admin_status=rank)
    other = harness.stand(6, name="Borvik")
    harness.run(0.5)
    return harness, one, other


def test_who_camps_and_changes_the_zone_does_neither_camp_there_nor_vanish() -> None:
    harness, one, _ = two()
    camp(one)
    one.types("/zone Antonica")
    assert one.player is not None
    assert one.player.state is PlayerState.ZONING
    ready_to_zone(one)
    again = harness.stand(5)
    harness.run(60.0)
    assert again.player is not None
    assert again.player.state is PlayerState.STANDING
    assert "camping" not in again.player.spawn.words
    assert again.player.zone.zone_id == 12


def test_who_changes_the_zone_cannot_camp_meanwhile() -> None:
    harness, one, _ = two()
    one.types("/zone Antonica")
    camp(one)
    one.say("OP_RequestCampMsg", QUIT)
    assert "OP_CampStartedMsg" not in one.names
    again = harness.stand(5)
    harness.run(30.0)
    assert again.player is one.player
    assert not again.is_closed


def test_who_loses_the_link_while_camping_is_link_dead_and_camps_no_more() -> None:
    harness, one, other = two(rank=0)
    camp(one)
    harness.service.closed(one.player, one, "timed out", harness.now)
    harness.run(30.0)
    fields = other.fields_of("Aldana")
    assert (fields["linkdead"], fields.get("camping", 0)) == (1, 0)
    harness.run(100.0)
    assert other.sees() == set()
    assert len(harness.world.players) == 1


def test_a_second_login_while_zoning_arrives_as_one_that_was_sent_nothing_yet() -> None:
    harness, one, other = two()
    one.types("/zone Antonica")
    second = harness.enter(5, key=12345)
    assert "OP_PopulateSkillMapsMsg" in second.names, "it comes from the login, not from a zone"
    second.load()
    harness.run(0.5)
    assert second.player is one.player
    assert second.player is not None
    assert second.player.zone.zone_id == 12
    assert one.is_closed
    harness.service.closed(one.player, one, "closed", harness.now)
    assert not second.is_closed, "the end of the first changes nothing"
    assert other.sees() == set()


def test_a_player_that_changes_the_zone_cannot_be_summoned_or_sent_anywhere() -> None:
    harness, _, other = two()
    victim = harness.stand(7, name="Cenwyn", admin_status=100)
    one = harness.stand(8, name="Dorlas", admin_status=101)
    victim.types("/zone Antonica")
    before = harness.store.rows[7].zone_id
    for line in ("/summon Cenwyn", "/goto Cenwyn"):
        assert one.types(line) == ["Cenwyn is changing the zone"]
    assert harness.store.rows[7].zone_id == before
    again = harness.stand(7)
    assert again.player is not None
    assert again.player.zone.zone_id == 12
    assert not other.is_closed


@pytest.mark.parametrize("steps", range(3))
def test_who_is_kicked_while_entering_is_gone_and_seen_by_nobody(steps: int) -> None:
    harness, one, other = two()
    late = harness.enter(7, name="Late")
    for name in ("OP_DoneLoadingZoneResourcesMsg", "OP_DoneLoadingEntityResourcesMsg")[:steps]:
        late.say(name)
    assert one.types("/kick Late") == ["Late was disconnected"]
    assert late.is_closed
    late.load()
    harness.run(1.0)
    assert other.sees() == {"Aldana"}
    assert harness.world.players.get(7) is None
    assert harness.presence.find(7) is None
    assert harness.stand(7).player is not None, "and may come back"


class Slow:
    """Keys that are not there at once, as those of another process."""

    def __init__(self, harness: WorldHarness) -> None:
        self._issue = harness.keys.issue
        self.waiting = 0

    async def issue(self, *handoff: Any) -> int:
        self.waiting += 1
        await Pause()
        return await self._issue(*handoff)


class Pause:
    def __await__(self) -> Any:
        yield self


def advance(work: Coroutine[Any, Any, None]) -> Exception | None:
    """Let a coroutine go on; returns what it raises."""
    try:
        work.send(None)
    except StopIteration:
        return None
    except Exception as error:  # noqa: BLE001  # what a test looks at
        return error
    return None


def test_of_two_ways_at_once_the_first_is_taken_and_its_key_is_good() -> None:
    harness, one, _ = two()
    assert one.player is not None
    slow: Any = Slow(harness)
    harness.world.processes = replace(harness.world.processes, handoffs=slow)
    to = Destination(12)
    first = harness.departures.change_zone(one.player, to)
    assert advance(first) is None
    second = harness.departures.change_zone(one.player, Destination(33))
    assert "on its way already" in str(advance(second))
    assert slow.waiting == 1
    assert advance(first) is None
    (reported,) = one.decoded("WS_ZoneChangeMsg")
    redeemed = harness.keys.redeem(reported["account_id"], reported["key"])
    with pytest.raises(StopIteration) as end:
        redeemed.send(None)
    assert end.value.value is not None


def test_who_leaves_while_its_way_is_made_is_not_sent_anywhere() -> None:
    harness, one, _ = two()
    assert one.player is not None
    slow: Any = Slow(harness)
    harness.world.processes = replace(harness.world.processes, handoffs=slow)
    way = harness.departures.change_zone(one.player, Destination(12))
    assert advance(way) is None
    one.say("OP_RequestCampMsg", QUIT)
    # Whoever has asked for it hears so: a price is given back, and `summon` does not say "done".
    assert "has left" in str(advance(way))
    assert one.decoded("WS_ZoneChangeMsg") == []
    assert one.is_closed
    assert harness.world.players.get(5) is None


# -- floods that are within the limit of messages ------------------------------------------------


def test_invitations_do_not_flood_who_is_invited() -> None:
    harness, one, other = two(rank=0)
    for _ in range(50):
        one.types("/invite Borvik")
        harness.run(0.1)
    lines = [row["text"] for row in other.decoded("WS_DisplayText")]
    assert sum("invites you" in line for line in lines) == 1
    for _ in range(50):
        one.types("/invite Borvik")
        other.types("/decline")
    lines = [row["text"] for row in other.decoded("WS_DisplayText")]
    assert sum("invites you" in line for line in lines) < 20


def test_an_invitation_of_somebody_who_has_gone_leads_nowhere() -> None:
    harness, one, other = two(rank=0)
    one.types("/invite Borvik")
    one.say("OP_RequestCampMsg", QUIT)
    assert other.types("/accept") == ["nobody has invited you"]
    assert harness.world.groups.table.of(6) is None


@pytest.mark.slow
def test_channels_without_number_and_of_any_name() -> None:
    harness, one, other = two(rank=0)
    other.types("/joinchannel Trade")
    for number in range(10_000 // 50):
        one.types(f"/joinchannel channel{number}")
        harness.run(0.2)
    one.types("/joinchannel " + "x" * 60_000)
    one.types("/tellchannel " + "y" * 60_000 + " hello")
    assert len(harness.chat.channels) <= 11
    assert one.player is not None
    assert len(one.player.channels) <= 10
    for _ in range(100):
        one.types("/chatleave channel0")
        one.types("/joinchannel Trade")
        one.types("/chatleave Trade")
    reported = [
        # Another one has come or gone.
        row
        for row in other.decoded("WS_ChatChannelUpdate")
        if row["action"] in (2, 3)
    ]
    assert len(reported) < 50
    assert not other.is_closed


@pytest.mark.slow
def test_lists_of_friends_and_ignored_ones_end_somewhere() -> None:
    harness, one, _ = two(rank=0)
    harness.start = Deferred.fromCoroutine  # answers wait for their save
    harness.exist(*(f"somebody{number}" for number in range(2 * MOST_NAMES)))
    for number in range(2 * MOST_NAMES):
        one.types(f"/ignore somebody{number}")
        harness.run(0.02)
    one.types("/ignore " + "x" * 60_000)
    one.types("/friend " + "x" * 60_000)
    assert one.player is not None
    assert len(one.player.relations.rows()) == MOST_NAMES
    harness.run(5.0)
    assert len(harness.store.rows[5].relations) == MOST_NAMES


def test_nobody_shows_itself_anything() -> None:
    _, one, _ = two(rank=0)
    assert one.types("/tell aldana hello") == ["You can't tell yourself anything"]
    assert one.decoded("WS_HearChat") == []


def test_indexes_of_others_move_nobody() -> None:
    """A prediction names no spawn; whatever number stands in it, only its sender moves."""
    harness, one, other = two(rank=0)
    assert other.player is not None
    before = other.player.position
    for index in (0, 1, 2, 3, 6, 0xFFFF):
        one.walk(2.0, 1.0, 250.0, grid_location=index)
        one.say("OP_StandMsg", struct.pack("<I", index))
        one.say("OP_SitMsg", struct.pack("<I", index))
        harness.run(0.5)
    assert other.player.position == before
    assert other.player.spawn.visual_state == 0
