"""Keeping order."""

from __future__ import annotations

from tests.support.world.worlds import WorldHouse


def test_kick_and_who_may_not(house: WorldHouse) -> None:
    master = house.stand(5, admin_status=100)
    boss = house.stand(6, name="Boss", admin_status=200)
    victim = house.stand(7, name="Victim")
    assert master.types("/kick Boss") == ["Boss has your rank or a higher one"]
    assert not boss.is_closed
    assert master.types("/kick victim") == ["Victim was sent away"]
    assert victim.is_closed
    assert house.events[-1].line == "Victim left Isle of Refuge: kicked by Name5"
    rude = house.stand(8, name="Rude")
    assert house.console("kick Rude be nice").ok
    assert rude.is_closed
    assert house.events[-1].line.endswith("kicked by console: be nice")


def test_ban_and_unban(house: WorldHouse) -> None:
    victim = house.stand(7, name="Victim")
    assert house.console("ban Victim").text == "Victim is banned: the character"
    assert victim.is_closed
    assert house.store.rows[7].admin_status == -1
    assert house.console("unban Victim").ok
    assert house.store.rows[7].admin_status == 0
    assert house.console("unban Victim").text == "Victim is not banned"
    assert house.console("ban Victim on").text == "Victim is banned: its whole account"
    assert house.store.rows[7].admin_status == -2
    assert not house.console("ban Nobody").ok


def test_a_guide_bans_players_and_not_the_other_way_round(house: WorldHouse) -> None:
    guide = house.stand(5, admin_status=10)
    house.stand(6, name="Boss", admin_status=100)
    house.stand(7, name="Victim")
    assert guide.types("/ban Boss") == ["Boss has your rank or a higher one"]
    assert guide.types("/ban Victim") == ["Victim is banned: the character"]


def test_lock_and_unlock(house: WorldHouse) -> None:
    changes = []
    house.world.changed = lambda: changes.append(house.admission.locked)
    assert house.console("lock").text == "the world is locked"
    assert house.console("unlock").text == "the world is open"
    assert changes == [True, False]


def test_the_message_of_the_day(house: WorldHouse) -> None:
    assert house.console("motd").text == "there is no message of the day"
    house.console("setmotd Be kind")
    assert house.console("motd").text == "Be kind"
    client = house.enter(5)
    assert client.decoded("WS_DisplayText")[0]["text"] == "Be kind"


def test_mute_needs_minutes(house: WorldHouse) -> None:
    house.stand(5, name="Aldana")
    assert house.console("mute Aldana 0").text == "minutes: must be 1 or more"


def test_who_is_muted_is_told_why(house: WorldHouse) -> None:
    loud = house.stand(5, name="Aldana")
    assert house.console("mute Aldana 1 too loud").text == "Aldana is muted for 1 minute"
    assert loud.decoded("WS_DisplayText")[-1]["text"] == "You are muted for 1 minute: too loud"
    house.console("mute Aldana 2")
    assert loud.decoded("WS_DisplayText")[-1]["text"] == "You are muted for 2 minutes."


def test_who_keeps_order_may_watch_unseen(house: WorldHouse) -> None:
    guide, player = house.stand(5, name="Guide", admin_status=10), house.stand(6)
    house.run(0.5)
    assert player.sees() == {"Guide"}
    assert guide.types("/hide") == ["Nobody sees you."]
    house.run(0.2)
    assert (player.sees(), guide.sees()) == (set(), {"Name6"})
    player.types("/who")
    guide.types("/who")
    told = [client.decoded("WS_WhoQueryReply")[-1] for client in (player, guide)]
    assert [len(one["characters_array"]) for one in told] == [1, 2]
    assert "in the zone, hidden" in house.console("players").text
    assert guide.types("/hide") == ["You are seen again."]
    house.run(0.2)
    assert player.sees() == {"Guide"}
    player.types("/hide")
    house.run(0.2)
    assert guide.sees() == {"Name6"}, "players may not"
