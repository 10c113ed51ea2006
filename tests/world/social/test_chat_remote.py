"""Talk between players of two processes, on one bus."""

from __future__ import annotations

from emu.processes.ports import GONE
from emu.world.social.chat import BROADCAST
from tests.support.world.worlds import WorldHarness


def two() -> tuple[WorldHarness, WorldHarness]:
    here = WorldHarness()
    return here, WorldHarness(beside=here)


def test_a_report_finds_its_player_wherever_it_is() -> None:
    here, there = two()
    one, other = here.stand(5, name="Aldana"), there.stand(6, name="Borvik")
    one.types("/tell borvik are you there")
    reported = other.decoded("WS_HearChat")[-1]
    assert (reported["from"], reported["to"], reported["message"]) == (
        "Aldana",
        "Borvik",
        "are you there",
    )
    assert reported["from_spawn_id"] == 0xFFFFFFFF
    own = one.decoded("WS_HearChat")[-1]
    assert (own["from"], own["to"], own["message"]) == ("Aldana", "Borvik", "are you there")


def test_who_is_away_or_does_not_want_to_hear_says_so_across_processes() -> None:
    here, there = two()
    one, other = here.stand(5, name="Aldana"), there.stand(6, name="Borvik")
    other.types("/afk back at ten")
    one.types("/tell borvik hello")
    assert [row["message"] for row in one.decoded("WS_HearChat")[-2:]] == ["hello", "back at ten"]
    other.types("/ignore Aldana")
    assert one.types("/tell borvik hello") == ["Borvik ignores you"]


def test_a_report_to_an_absent_player_is_refused() -> None:
    here, there = two()
    one, other = here.stand(5, name="Aldana"), there.stand(6, name="Borvik")
    assert one.types("/tell nobody hello") == ["Unable to find client nobody"]
    there.service.closed(other.player, other, "lost", there.now)
    assert one.types("/tell borvik hello") == ["Unable to find client borvik"]


def test_a_process_that_is_gone_takes_its_players_out_of_every_list() -> None:
    here, there = two()
    one = here.stand(5, name="Aldana")
    there.stand(6, name="Borvik")
    one.types("/who all")
    assert len(one.decoded("WS_WhoQueryReply")[-1]["characters_array"]) == 2
    here.bus.publish(GONE, {"process": there.name})
    one.types("/who all")
    [row] = one.decoded("WS_WhoQueryReply")[-1]["characters_array"]
    assert row["char_name"].rstrip("\0") == "Aldana"
    assert one.types("/tell borvik hello") == ["Unable to find client borvik"]


def test_all_processes_show_what_is_for_all() -> None:
    here, there = two()
    clients = [here.stand(5, name="Aldana"), there.stand(6, name="Borvik")]
    assert here.chat.remote.publish(BROADCAST, "the world stops soon") == 2
    for client in clients:
        assert client.decoded("WS_DisplayText")[-1]["text"] == "the world stops soon"
    assert here.console("announce hear hear").text == "shown to 2 players"


def test_order_is_kept_across_processes_as_far_as_it_goes() -> None:
    here, there = two()
    there.character(6, name="Borvik", account_id=106, zone_id=325)
    other = there.stand(6)
    master = here.stand(5, name="Aldana", admin_status=100)
    assert master.types("/mute Borvik") == ["Borvik is muted for 10 minutes"]
    assert other.types("/say hello") == ["you are muted"]
    assert master.types("/unmute Borvik") == ["Borvik may speak"]
    assert other.types("/say hello") == []
    assert "Borvik" in here.console("players").text
    assert master.types("/kick Borvik")[0].startswith("Borvik was disconnected")
    assert other.is_closed
    there.stand(6)
    assert here.console("ban Borvik").ok
    assert there.world.players.get(6) is None
