"""Duels: the challenge, the last blow, and what ends them."""

from emu.world.combat.duels import BEGUN, CHALLENGED, OVER, REFUSED, WON
from emu.world.combat.fights import STARTED
from tests.support.world.fights import HERE, Fight


def scene() -> Fight:
    fight = Fight()
    fight.other = fight.stand(6, "Borvik")  # type: ignore[attr-defined]
    return fight


def challenged(fight: Fight) -> list[str]:
    fight.player.set_target(fight.of(fight.other).spawn)  # type: ignore[attr-defined]
    return fight.client.types("duel")


def test_the_last_blow_leaves_one_point() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    assert challenged(fight) == [CHALLENGED.format(name="Borvik")]
    window = other.decoded("WS_ChoiceWindow")[-1]
    assert window["accept_command"] == "accept_duel"
    assert other.types("accept_duel") == [BEGUN.format(name="Aldana")]
    fight.client.types("autoattack 1")
    fight.run(200.0)
    borvik = fight.of(other).spawn
    assert borvik.hp_percent > 0
    assert fight.texts(other)[-1] == WON.format(winner="Aldana", loser="Borvik")
    assert not fight.harness.parts.combat.fights.is_attacking(fight.player.spawn)
    before = borvik.sheet.health.current
    fight.client.types("autoattack 1")
    fight.run(5.0)
    assert borvik.sheet.health.current >= before


def test_what_follows_from_the_last_blow_kills_nobody() -> None:
    """A proc or the other hand strikes again in the turn of the last blow."""
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    other.types("accept_duel")
    borvik, harm = fight.of(other).spawn, fight.harness.minds.harm
    for _ in range(2):
        left = harm.through(fight.player.zone, borvik, fight.player.spawn, 10_000)
        harm.take_health(fight.player.zone, borvik, fight.player.spawn, left)
    fight.run(0.1)
    assert borvik.sheet.health.current == 1
    assert fight.texts(other)[-1] == WON.format(winner="Aldana", loser="Borvik")
    assert fight.client.types("surrender") == ["you have no duel"]


def test_a_challenge_of_a_lost_client_is_not_accepted() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    fight.harness.service.closed(fight.player, fight.client, "the test cuts it", fight.harness.now)
    assert other.types("accept_duel") == ["Aldana cannot duel now"]


def test_the_order_to_attack_knows_opponents_and_enemies_of_friends() -> None:
    """docs/guides/fights.md#commands: the target of a player that is targeted is struck."""
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    assert challenged(fight) == [CHALLENGED.format(name="Borvik")]
    assert fight.client.types("attack") == ["you cannot attack Borvik"]
    fight.of(other).set_target(fight.creature())
    assert fight.client.types("attack") == [STARTED]
    fight.client.types("autoattack 0")
    fight.of(other).set_target(None)
    other.types("accept_duel")
    assert fight.client.types("attack") == [STARTED]


def test_a_duel_can_be_refused_and_forgotten() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    assert challenged(fight) == ["Aldana has a duel already"]
    other.types("decline_duel")
    assert fight.texts()[-1] == REFUSED.format(name="Borvik")
    challenged(fight)
    fight.run(31.0)
    assert other.types("accept_duel") == ["nobody has challenged you to a duel"]
    assert fight.client.types("decline_duel") == ["you have no duel"]


def test_nobody_is_struck_before_the_answer_and_after_giving_up() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    fight.client.types("autoattack 1")
    fight.run(5.0)
    assert fight.blows() == []
    other.types("accept_duel")
    other.types("surrender")
    assert fight.texts()[-1] == WON.format(winner="Aldana", loser="Borvik")


def test_distance_ends_a_duel_without_a_winner() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    other.types("accept_duel")
    fight.put(other, HERE._replace(x=200.0))
    fight.run(2.0)
    assert fight.texts()[-1] == OVER.format(name="Borvik")


def test_who_cannot_duel() -> None:
    fight = scene()
    fight.player.set_target(fight.player.spawn)
    assert fight.client.types("duel") == ["you cannot duel with yourself"]
    fight.player.set_target(fight.creature())
    assert fight.client.types("duel") == ["target a player first"]
    fight.put(fight.other, HERE._replace(x=50.0))  # type: ignore[attr-defined]
    assert challenged(fight) == ["Borvik is too far away"]


def test_a_duel_ends_when_one_changes_the_zone() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    other.types("accept_duel")
    fight.client.types("autoattack 1")
    fight.run(1.0)
    fight.harness.departures.remove(fight.of(other), "quit", fight.harness.now)
    assert fight.texts()[-1] == OVER.format(name="Borvik")
    assert not fight.harness.parts.combat.fights.is_attacking(fight.player.spawn)
    # Another one can challenge it now.
    third = fight.stand(7, "Corwin")
    fight.player.set_target(fight.of(third).spawn)
    assert fight.client.types("duel") == [CHALLENGED.format(name="Corwin")]


def test_an_offer_ends_without_a_word_when_one_leaves() -> None:
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    challenged(fight)
    before = len(fight.texts())
    fight.harness.departures.remove(fight.of(other), "quit", fight.harness.now)
    assert fight.texts()[before:] == []
    assert fight.client.types("surrender") == ["you have no duel"]


def test_who_declines_duels_or_ignores_the_challenger_is_not_asked() -> None:
    """The switch is a command of the client (docs/protocol/world/commands.md#options)."""
    fight = scene()
    other = fight.other  # type: ignore[attr-defined]
    other.types("decline_duels")
    assert challenged(fight) == ["Borvik declines such invitations"]
    other.types("decline_duels")
    other.types("ignore_add Aldana")
    assert challenged(fight) == ["Borvik ignores you"]
    assert other.decoded("WS_ChoiceWindow") == []
    assert other.types("accept_duel") == ["nobody has challenged you to a duel"]
