"""Looking players up."""

from __future__ import annotations

from tests.support.world.worlds import WorldHouse


def test_players_are_found_by_every_name(house: WorldHouse) -> None:
    one = house.stand(5, name="Aldana").player
    players = house.world.players
    assert players.get(5) is players.named("aLDANA") is one
    assert list(players) == [one]
    players.remove(one)
    players.remove(one)
    assert (players.get(5), players.named("Aldana")) == (None, None)


def test_clients_of_one_version_share_a_form(house: WorldHouse) -> None:
    one, two, other = house.stand(5), house.stand(6), house.stand(7, 561)
    forms = [client.player.viewer.form for client in (one, two, other)]
    assert forms[0] is forms[1] is not forms[2]
