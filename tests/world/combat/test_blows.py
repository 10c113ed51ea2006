"""Messages about blows and deaths: bytes as recorded, and who is sent them."""

import pytest

from emu.rules.combat import Result
from emu.world.actors.spawn import Spawn
from emu.world.combat.blows import Blow, show_blow, show_death
from tests.support.world.fights import HERE, Fight


def indexes(fight: Fight, crab: Spawn) -> tuple[bytes, bytes]:
    own, other = (fight.player.index_of(one) for one in (fight.player.spawn, crab))
    assert own is not None
    assert other is not None
    return own.to_bytes(4, "little"), other.to_bytes(4, "little")


@pytest.mark.parametrize(
    ("version", "blow", "recorded"),
    [
        # fight-546-melee-a, lines 350 and 550; fight-546-death-a, line 127
        (546, Blow(Result.HIT, 2), "{own}{crab}{crab}0000000000010000020000000000000000"),
        (546, Blow(Result.MISS), "{own}{crab}{crab}0100000000010000000000000000000000"),
        (546, Blow(Result.HIT, 6, 2), "{own}{crab}{crab}0000000000010002060000000000000000"),
        # fight-561-melee-a, lines 387 and 414
        (561, Blow(Result.HIT, 2), "{own}{crab}{crab}0000000000010000020000000000000000"),
        (561, Blow(Result.MISS), "{own}{crab}{crab}0100000000010000000000000000000000"),
        # fight-1096-melee-a, lines 380, 470 and 1190
        (1096, Blow(Result.HIT, 2), "c0000001{own}{crab}00020000"),
        (1096, Blow(Result.MISS, 0, 1), "c0000004{own}{crab}01000000"),
        (1096, Blow(Result.DODGE, 0, 1), "c0000008{own}{crab}01000000"),
        # fight-1208-melee-a, lines 400 and 406; fight-1208-death-a, lines 147 and 197
        (1208, Blow(Result.HIT, 4), "c0000001{own}{crab}00040000000000"),
        (1208, Blow(Result.MISS, 0, 1), "c0000004{own}{crab}01000000000000"),
        (1208, Blow(Result.HIT, 9, 2), "c0000001{own}{crab}02090000000000"),
        # fight-60114-melee-a, lines 389 and 417; fight-60114-death-a, line 143
        (60114, Blow(Result.HIT, 3), "c0000001{own}{crab}00030000000000"),
        (60114, Blow(Result.MISS), "c0000004{own}{crab}00000000000000"),
        (60114, Blow(Result.HIT, 9, 2), "c0000001{own}{crab}02090000000000"),
    ],
)
def test_blows_are_as_recorded(version: int, blow: Blow, recorded: str) -> None:
    fight = Fight(version)
    crab = fight.creature()
    show_blow(fight.player.zone, fight.player.spawn, crab, blow)
    own, other = (one.hex() for one in indexes(fight, crab))
    assert fight.blows()[-1].hex() == recorded.format(own=own, crab=other)


@pytest.mark.parametrize(
    ("version", "tail"),
    # Line 624 of fight-546-melee-a, 661 of 561, 654 of 1096, 694 of 1208, 741 of 60114.
    [(546, "00"), (561, "00"), (1096, "000000"), (1208, "000000"), (60114, "000000")],
)
def test_deaths_are_as_recorded(version: int, tail: str) -> None:
    fight = Fight(version)
    crab = fight.creature()
    show_death(fight.player.zone, fight.player.spawn, crab)
    own, other = (one.hex() for one in indexes(fight, crab))
    found = [payload for name, payload in fight.client.log if name == "OP_EqHearDeathCmd"]
    assert [one.hex() for one in found] == [own + other + tail]


def test_a_death_without_killer_names_nobody() -> None:
    fight = Fight()
    crab = fight.creature()
    show_death(fight.player.zone, None, crab)
    found = [payload for name, payload in fight.client.log if name == "OP_EqHearDeathCmd"]
    assert found[-1][:4] == b"\xff\xff\xff\xff"


def test_damage_is_cut_to_sixteen_bits() -> None:
    fight = Fight()
    crab = fight.creature()
    show_blow(fight.player.zone, fight.player.spawn, crab, Blow(Result.HIT, 70_000))
    assert fight.blows()[-1][20:22] == b"\xff\xff"


def test_a_critical_blow_is_marked() -> None:
    # The C++ server never marks one up to 561; 4 is the client's (docs/protocol/world/fights.md).
    for version, place, mark in ((546, 24, 4), (1096, 0, 0xC4)):
        fight = Fight(version)
        crab = fight.creature()
        blow = Blow(Result.HIT, 5, 0, is_critical=True)
        show_blow(fight.player.zone, fight.player.spawn, crab, blow)
        assert fight.blows()[-1][place] == mark


def test_who_is_far_hears_nothing() -> None:
    fight = Fight()
    far = fight.stand(6, "Borvik")
    fight.put(far, HERE._replace(x=60.0))
    crab = fight.creature()
    show_blow(fight.player.zone, fight.player.spawn, crab, Blow(Result.HIT, 5))
    show_death(fight.player.zone, fight.player.spawn, crab)
    assert fight.blows(far) == []
    assert "OP_EqHearDeathCmd" not in far.names
    assert len(fight.blows()) == 1


def test_only_onlookers_may_be_shown_a_blow_a_moment_later() -> None:
    fight = Fight()
    onlooker = fight.stand(6, "Borvik")
    crab, zone, own = fight.creature(), fight.player.zone, fight.player.spawn
    show_blow(zone, own, crab, Blow(Result.HIT, 5))
    show_blow(zone, crab, own, Blow(Result.MISS))
    assert (len(fight.blows()), len(fight.blows(onlooker))) == (2, 2)
    assert (fight.client.sent_later, onlooker.sent_later) == (0, 2)
