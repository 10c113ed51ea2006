"""Keeping order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu.commands import Caller, Reply
from emu.world.events import StatusChanged
from tests.support.coroutines import finish
from tests.support.world.worlds import WorldHarness


def test_kick_and_who_may_not(harness: WorldHarness) -> None:
    master = harness.stand(5, admin_status=100)
    boss = harness.stand(6, name="Boss", admin_status=200)
    victim = harness.stand(7, name="Victim")
    assert master.types("/kick Boss") == ["Boss has your rank or a higher one"]
    assert not boss.is_closed
    assert master.types("/kick victim") == ["Victim was disconnected"]
    assert victim.is_closed
    assert harness.events[-1].line == "Victim left Isle of Refuge: kicked by Name5"
    rude = harness.stand(8, name="Rude")
    assert harness.console("kick Rude be nice").ok
    assert rude.is_closed
    assert harness.events[-1].line.endswith("kicked by console: be nice")


def test_ban_and_unban(harness: WorldHarness) -> None:
    victim = harness.stand(7, name="Victim")
    assert harness.console("ban Victim").text == "Victim is banned: the character"
    assert victim.is_closed
    assert harness.store.rows[7].admin_status == -1
    assert harness.console("unban Victim").ok
    assert harness.store.rows[7].admin_status == 0
    assert harness.console("unban Victim").text == "Victim is not banned"
    assert harness.console("ban Victim on").text == "Victim is banned: its whole account"
    assert harness.store.rows[7].admin_status == -2
    assert not harness.console("ban Nobody").ok


def test_a_guide_bans_players_and_not_the_other_way_round(harness: WorldHarness) -> None:
    guide = harness.stand(5, admin_status=10)
    harness.stand(6, name="Boss", admin_status=100)
    harness.stand(7, name="Victim")
    assert guide.types("/ban Boss") == ["Boss has your rank or a higher one"]
    assert guide.types("/ban Victim") == ["Victim is banned: the character"]


def test_lock_and_unlock(harness: WorldHarness) -> None:
    changes = []
    harness.world.events.subscribe(
        StatusChanged, lambda _event: changes.append(harness.admission.locked)
    )
    assert harness.console("lock").text == "the world is locked"
    assert harness.console("unlock").text == "the world is open"
    assert changes == [True, False]


def test_the_message_of_the_day(harness: WorldHarness) -> None:
    assert harness.console("motd").text == "there is no message of the day"
    harness.console("setmotd Be kind")
    assert harness.console("motd").text == "Be kind"
    client = harness.enter(5)
    assert client.decoded("WS_DisplayText")[0]["text"] == "Be kind"


def test_mute_needs_minutes(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana")
    assert harness.console("mute Aldana 0").text == "minutes: must be 1 or more"


def test_a_muted_player_is_sent_the_reason(harness: WorldHarness) -> None:
    loud = harness.stand(5, name="Aldana")
    assert harness.console("mute Aldana 1 too loud").text == "Aldana is muted for 1 minute"
    assert loud.decoded("WS_DisplayText")[-1]["text"] == "You are muted for 1 minute: too loud"
    harness.console("mute Aldana 2")
    assert loud.decoded("WS_DisplayText")[-1]["text"] == "You are muted for 2 minutes."


def test_who_keeps_order_may_watch_unseen(harness: WorldHarness) -> None:
    guide, player = harness.stand(5, name="Guide", admin_status=10), harness.stand(6)
    harness.run(0.5)
    assert player.sees() == {"Guide"}
    assert guide.types("/hide") == ["Nobody sees you."]
    harness.run(0.2)
    assert (player.sees(), guide.sees()) == (set(), {"Name6"})
    player.types("/who")
    guide.types("/who")
    reported = [client.decoded("WS_WhoQueryReply")[-1] for client in (player, guide)]
    assert [len(one["characters_array"]) for one in reported] == [1, 2]
    assert "in the zone, hidden" in harness.console("players").text
    assert guide.types("/hide") == ["You are seen again."]
    harness.run(0.2)
    assert player.sees() == {"Guide"}
    player.types("/hide")
    harness.run(0.2)
    assert guide.sees() == {"Name6"}, "players may not"


RANKED = {
    "kick": "kick Mule",
    "ban": "ban Mule",
    "ban for ever": "ban Mule on",
    "unban": "unban Banned",
    "mute": "mute Mule 5",
    "unmute": "unmute Mule",
    "summon": "summon Mule",
    "givetitle": "givetitle Mule Fool",
}
"""Every command of the world that does something to another player."""


@pytest.mark.parametrize("way", ["game", "page"])
@pytest.mark.parametrize("line", RANKED.values(), ids=RANKED)
def test_the_account_of_an_administrator_is_safe_through_its_other_characters(
    harness: WorldHarness, line: str, way: str
) -> None:
    """Mule is a player; another character of its account has a rank."""
    mule = harness.stand(6, name="Mule", account_id=77)
    harness.character(8, name="Banned", account_id=77, admin_status=-1)
    harness.character(9, name="Hero", account_id=77, admin_status=100)
    actor = harness.stand(5, name="Actor", admin_status=1)
    actor.player.character = harness.store.rows[5] = replace(
        harness.store.rows[5], admin_status=100
    )
    name = line.split()[1]

    def run(rank: int) -> Reply:
        player = actor.player if way == "game" or line.startswith("summon") else None
        caller = Caller("Actor", rank, way, player, 105)
        return finish(harness.registry.run(caller, line, harness.now))

    before = (
        mule.log[:],
        harness.store.rows[6],
        harness.store.rows[8],
        harness.world.players.get(6),
    )
    for rank in (99, 100):
        reply = run(rank)
        assert not reply.ok
        if rank == 100 or line.split(maxsplit=1)[0] not in {"kick", "givetitle"}:
            assert reply.text == f"{name} has your rank or a higher one"
    after = (mule.log, harness.store.rows[6], harness.store.rows[8], harness.world.players.get(6))
    assert after == before
    assert run(101).ok


def test_those_of_one_account_may_do_to_each_other_what_harms_nobody(harness: WorldHarness) -> None:
    actor = harness.stand(5, name="Actor", admin_status=100)
    twin = harness.stand(6, name="Twin", account_id=105, admin_status=100)
    assert actor.types("/givetitle Twin Fool") == ["Twin has the title Fool now"]
    assert actor.types("/summon Twin") == ["Twin is with you"]
    for line in ("/mute Twin", "/unmute Actor", "/ban Twin", "/mute Actor"):
        assert actor.types(line)[0].endswith("has your rank or a higher one")
    assert actor.types("/kick Twin") == ["Twin was disconnected"]
    assert twin.is_closed


@pytest.mark.parametrize(
    ("line", "account"),
    [("kick Victim", 107), ("ban Victim", 107), ("ban Twin on", 107), ("lock", 108)],
)
def test_keys_that_were_given_out_are_good_no_more(
    harness: WorldHarness, line: str, account: int
) -> None:
    harness.stand(7, name="Victim")
    harness.character(8, name="Twin", account_id=107)
    key = finish(harness.keys.issue(account, 7, "Victim"))
    other = finish(harness.keys.issue(999, 999, "Other", 10))
    assert harness.console(line).ok
    assert finish(harness.keys.redeem(account, key)) is None
    assert finish(harness.keys.redeem(999, other)) is not None


def test_a_ban_for_ever_sends_all_characters_of_the_account_away(harness: WorldHarness) -> None:
    one, two = (harness.stand(n, name=f"Twin{n}", account_id=7) for n in (5, 6))
    other = harness.stand(8)
    assert harness.console("ban Twin5 on").ok
    assert (one.is_closed, two.is_closed, other.is_closed) == (True, True, False)
