"""What players keep of spells over a change of the zone."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from emu.times import Moment
from emu.world.actors.past import Past
from emu.world.events import Entered, LeftZone
from emu.world.spells.living import Control, Ward
from tests.support.world.spell_scenes import BUFF, SMITE, SpellScene

pytest.importorskip("lupa", reason="the package lupa is not installed")
COURAGE, SMITE_ID = 110002, 110014


def change_zone(scene: SpellScene, seconds: float = 5.0) -> None:
    """Leave and enter, as a change of the zone does."""
    events, player = scene.harness.world.events, scene.player
    events.publish(LeftZone(player))
    assert scene.spells.states.get(player.spawn) is None
    assert player.spawn.sheet.attribute("sta") == 20
    scene.run(seconds)
    scene.harness.moment = Moment(scene.harness.moment + seconds)
    events.publish(Entered(player, scene.harness.now))


def test_own_spells_go_on_with_the_time_that_was_left(tmp_path: Path) -> None:
    timed = BUFF.replace("lasts_until_cancelled = true\ncast_kind = 1\n", "")
    scene = SpellScene(tmp_path, toml=timed.replace("duration1 = 432000", "duration1 = 600"))
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.effects()[0].ward = Ward(30, kept=True)
    scene.run(20.0)
    change_zone(scene)
    (spell,) = scene.effects()
    assert scene.player.spawn.sheet.attribute("sta") == 32
    assert spell.ward is not None
    assert spell.seconds_left(scene.harness.now) == pytest.approx(40.0, abs=0.2)
    scene.run(41.0)
    assert scene.effects() == []
    assert scene.player.spawn.sheet.attribute("sta") == 20


def test_a_toggle_stays_on_and_holds_its_concentration(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    change_zone(scene)
    assert scene.state().concentration == 1
    scene.cast(COURAGE)
    assert scene.effects() == []
    assert scene.state().concentration == 0


def test_what_others_gave_and_harm_stay_behind(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    friend = scene.friend()
    scene.spells.cast_for_free(friend, scene.kind(COURAGE), 1, scene.player.spawn)
    assert len(scene.effects()) == 1
    change_zone(scene)
    assert scene.effects() == []


def test_recasts_stay(tmp_path: Path) -> None:
    slow = SMITE.replace("recast = 3", "recast = 30")
    scene = SpellScene(tmp_path, toml=slow)
    scene.cast(SMITE_ID, scene.creature())
    scene.run(3.0)
    due = scene.state().ready[SMITE_ID]
    change_zone(scene)
    assert scene.state().ready[SMITE_ID] == due
    change_zone(scene, 40.0)
    assert SMITE_ID not in scene.state().ready


def test_a_clock_that_is_set_back_makes_no_recast_longer(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=SMITE.replace("recast = 3", "recast = 30"))
    scene.cast(SMITE_ID, scene.creature())
    scene.run(3.0)
    left = scene.state().ready[SMITE_ID] - scene.harness.now
    change_zone(scene)
    scene.harness.world.events.publish(LeftZone(scene.player))
    scene.harness.moment = Moment(scene.harness.moment - 3600.0)
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    assert 0 < scene.state().ready[SMITE_ID] - scene.harness.now <= left


TIMED = BUFF.replace("lasts_until_cancelled = true\ncast_kind = 1\n", "").replace(
    "duration1 = 432000", "duration1 = 600"
)


def come_again(scene: SpellScene) -> None:
    """Leave the world, and come back as the store has the character."""
    player = scene.player
    scene.harness.departures.remove(player, "quit", scene.harness.now)
    scene.run(5.0)
    scene.client = scene.harness.stand(player.id, 546)
    assert scene.client.player is not None
    assert scene.client.player is not player
    scene.player = scene.client.player


def test_spells_go_on_after_a_logout(tmp_path: Path) -> None:
    # Source: eq2-spells.md 6, "kept over zoning and logout".
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(20.0)
    come_again(scene)
    (spell,) = scene.effects()
    assert scene.player.spawn.sheet.attribute("sta") == 32
    # The time stands still while the character is away.
    assert spell.seconds_left(scene.harness.now) == pytest.approx(40.0, abs=0.5)
    scene.run(41.0)
    assert scene.player.spawn.sheet.attribute("sta") == 20
    come_again(scene)
    assert scene.effects() == []


def test_a_spell_is_stored_as_soon_as_it_lasts(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(0.5)
    assert "lasting" in scene.harness.store.rows[scene.player.id].past
    scene.spells.lasting.end(scene.effects()[0], "canceled")
    scene.run(0.5)
    assert "effects" not in scene.harness.store.rows[scene.player.id].past


def test_a_timed_spell_of_a_friend_goes_on(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    friend = scene.friend()
    scene.spells.cast_for_free(friend, scene.kind(COURAGE), 1, scene.player.spawn)
    change_zone(scene)
    (spell,) = scene.effects()
    assert spell.ends is not None
    assert spell.is_free


def test_a_timed_spell_stays_with_a_friend_whose_caster_leaves(tmp_path: Path) -> None:
    """Source: eq2-spells.md 6 (kept over zoning: effects with their targets)."""
    scene = SpellScene(tmp_path, toml=TIMED)
    friend = scene.friend()
    scene.spells.cast_for_free(scene.player, scene.kind(COURAGE), 1, friend.spawn)
    (spell,) = scene.effects(friend.spawn)
    ends, before = spell.ends, len(scene.client_of(friend).log)
    change_zone(scene)
    assert scene.effects(friend.spawn) == [spell]
    assert (spell.caster, spell.ends) == (friend.spawn, ends)
    assert friend.spawn.sheet.attribute("sta") == 32
    assert scene.state().maintained == []
    assert scene.state(friend.spawn).maintained == [spell]
    # It goes on with the friend in turn, and ends in its time.
    scene.harness.world.events.publish(LeftZone(friend))
    scene.harness.world.events.publish(Entered(friend, scene.harness.now))
    assert len(scene.effects(friend.spawn)) == 1
    assert len(scene.client_of(friend).log) > before
    scene.run(61.0)
    assert scene.effects(friend.spawn) == []
    assert friend.spawn.sheet.attribute("sta") == 20


def test_a_lasting_spell_ends_on_a_friend_whose_caster_leaves(tmp_path: Path) -> None:
    """Nobody could end a spell without an end after its caster has left."""
    scene = SpellScene(tmp_path, toml=BUFF)
    friend = scene.friend()
    scene.spells.cast_for_free(scene.player, scene.kind(COURAGE), 1, friend.spawn)
    assert len(scene.effects(friend.spawn)) == 1
    change_zone(scene)
    assert scene.effects(friend.spawn) == []
    assert friend.spawn.sheet.attribute("sta") == 20


def test_what_a_caster_has_of_a_spell_on_a_friend_ends_when_it_leaves(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.script(GIVES_A_PROC, "Spells/Buff.lua")
    friend = scene.friend()
    scene.spells.cast_for_free(scene.player, scene.kind(COURAGE), 1, friend.spawn)
    (spell,) = scene.effects(friend.spawn)
    assert scene.state().others == (spell,)
    change_zone(scene, 1.0)
    assert scene.state().others == ()
    assert (list(spell.gifts), spell.caster) == ([], friend.spawn)
    assert [one.caster for one in spell.pending] == [friend.spawn]
    scene.run(5.0)
    assert len(scene.effects(friend.spawn)) == 1


def test_a_spell_of_anothers_for_its_group_stays_behind(tmp_path: Path) -> None:
    """Source: eq2-spells.md 6 (a mate in another zone keeps none: EnableCrossZoneGroupBuffs 0)."""
    scene = SpellScene(tmp_path, toml=TIMED.replace("target = 1", "target = 2\nis_group = true"))
    friend = scene.friend()
    scene.client.types(f"invite {friend.name}")
    scene.client_of(friend).types("acceptinvite")
    scene.spells.cast_for_free(friend, scene.kind(COURAGE), 1, None)
    (spell,) = scene.effects()
    spell.ward = Ward(30, kept=False)
    change_zone(scene)
    assert scene.effects() == []
    # It goes on where its caster is, with all that its ward has left.
    assert spell in scene.effects(friend.spawn)
    assert spell.ward.left == 30


@pytest.mark.parametrize(
    "lasting",
    [
        [], {"effects": 1}, {"effects": [1, [], [COURAGE]]},
        {"effects": [[COURAGE, 1, 1, float("nan"), 0, 1, [], {}, None]]},
        {"effects": [[COURAGE, 1, 1, 5.0, 0, 1, [[]], {}, None]]},
        {"effects": [[7, 1, 1, 5.0, 0, 1, [], {}, None]]},
        {"effects": [[COURAGE, 1, 1, 5.0, 0, 1, [], {}, [1, 2]]]},
        {"recasts": {"x": 1, "5": "y", "-": 3, "6": float("inf")}},
    ],
)  # fmt: skip
def test_what_is_stored_and_not_usable_is_left_out(tmp_path: Path, lasting: object) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.harness.world.events.publish(LeftZone(scene.player))
    scene.player.past.lasting = Past(json.dumps({"lasting": lasting})).lasting
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    assert scene.effects() == []
    assert not scene.state().ready


def test_gifts_that_are_not_usable_are_left_out(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    gifts = {
        "bonuses": {"1": [12.5], "x": [1], "2": ["y"], "3": []}, "skills": {"5": "z"},
        "procs": [[1], "x", [1, 2]], "controls": [-1, "a"], "snare": "b",
    }  # fmt: skip
    row = [COURAGE, 1, 1, 5.0, 0, 1, [1, "a"], gifts, None]
    scene.harness.world.events.publish(LeftZone(scene.player))
    scene.player.past.lasting = {"effects": [row]}
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    (spell,) = scene.effects()
    own = spell.gifts[scene.player.spawn]
    assert (list(own.bonuses), own.skills, len(own.procs), own.controls) == ([1], {}, 1, set())


def crash(scene: SpellScene, *, downtime: float) -> None:
    """Let the process end as it stands, and the character come back as the store has it."""
    harness, player = scene.harness, scene.player
    row = harness.store.rows[player.id]
    harness.departures.remove(player, "quit", harness.now)
    scene.run(5.0)
    harness.store.rows[player.id] = row
    harness.moment = Moment(harness.moment + downtime)
    scene.client = harness.stand(player.id, 546)
    assert scene.client.player is not None
    scene.player = scene.client.player


@pytest.mark.parametrize(
    ("stood", "downtime", "left"),
    [
        (20.0, 3.0, 37.0),  # the time that the server was away counts as well
        (20.0, 900.0, 0.0),
        (59.0, 5.0, 0.0),
    ],
)
def test_a_crash_gives_a_spell_no_time_back(
    tmp_path: Path, stood: float, downtime: float, left: float
) -> None:
    # A save of a spell comes only when one begins or ends.
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(stood)
    scene.harness.moment = Moment(scene.harness.moment + stood)
    crash(scene, downtime=downtime)
    found = [spell.seconds_left(scene.harness.now) for spell in scene.effects()]
    assert found == ([pytest.approx(left, abs=0.5)] if left else [])


def test_a_long_downtime_costs_a_long_spell_one_interval_of_saves_at_most(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED.replace("duration1 = 600", "duration1 = 6000"))
    scene.know(COURAGE)
    scene.cast(COURAGE)
    for _ in range(100):
        scene.run(1.0)
        scene.harness.moment = Moment(scene.harness.moment + 1.0)
    # The save of the place, after 60 seconds, has how long the character played by then.
    crash(scene, downtime=86_400.0)
    (spell,) = scene.effects()
    seconds = spell.seconds_left(scene.harness.now)
    assert seconds is not None
    assert 500.0 - 60.0 <= seconds <= 501.0


@pytest.mark.parametrize("written", ["5", "[1]", '["x", 2]', "[1e300, -5]"])
def test_a_damaged_time_of_writing_ends_nothing_early(tmp_path: Path, written: str) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(1.0)
    rows = scene.harness.store.rows
    past = json.loads(rows[scene.player.id].past)
    past["lasting"]["at"] = json.loads(written)
    rows[scene.player.id] = replace(rows[scene.player.id], past=json.dumps(past))
    crash(scene, downtime=0.0)
    assert len(scene.effects()) == 1


def test_who_leaves_reads_of_no_end_of_what_goes_on(tmp_path: Path) -> None:
    """No recording of a change of the zone has such a line (fight-*-death-a, *-zone-change)."""
    scene = SpellScene(tmp_path, toml=TIMED)
    friend = scene.friend()
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.cast(COURAGE, friend.spawn)
    scene.run(0.5)
    before = len(scene.shown())
    scene.harness.departures.remove(scene.player, "quit", scene.harness.now)
    assert scene.shown()[before:] == []
    # Its friend still has it, and reads of its end in time.
    assert "Your Courage fades." not in scene.read_by(friend)
    scene.run(61.0)
    assert "Your Courage fades." in scene.read_by(friend)


def test_what_lasts_through_death_goes_on_with_the_dead(tmp_path: Path) -> None:
    through = TIMED.replace("target = 1", "target = 1\nlasts_through_death = true")
    scene = SpellScene(tmp_path, toml=through)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    assert len(scene.effects()) == 1
    come_again(scene)
    assert scene.player.spawn.hp_percent == 0
    assert len(scene.effects()) == 1


def test_other_spells_end_with_a_death(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.harness.minds.harm.kill(scene.zone, scene.player.spawn, None)
    come_again(scene)
    assert scene.effects() == []


HEALTH = BUFF.replace("values = [1, 12.5]", "values = [500, 400]")
"""400 points of health more."""


@pytest.mark.parametrize("leave", [change_zone, come_again])
@pytest.mark.parametrize(("there", "then"), [(450, 450), (90, 90), (502, 502)])
def test_to_leave_and_come_heals_nobody(
    tmp_path: Path, leave: Callable[[SpellScene], None], there: int, then: int
) -> None:
    scene = SpellScene(tmp_path, toml=HEALTH)
    scene.know(COURAGE)
    scene.player.spawn.sheet.health.fill(102)
    scene.cast(COURAGE)
    assert scene.player.spawn.sheet.health.most == 502
    scene.player.spawn.sheet.health.set_current(there)
    leave(scene)
    pool = scene.player.spawn.sheet.health
    assert (pool.most, pool.current) == (502, then)


@pytest.mark.parametrize("pools", ["5", "[]", "[1, 2, 3]", '["x", true]', "[1e99, -5]", "[0, 0]"])
def test_damaged_pools_change_nothing(tmp_path: Path, pools: str) -> None:
    scene = SpellScene(tmp_path, toml=HEALTH)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    events, player = scene.harness.world.events, scene.player
    events.publish(LeftZone(player))
    player.past.lasting["pools"] = json.loads(pools)
    events.publish(Entered(player, scene.harness.now))
    assert player.spawn.sheet.health.current == player.spawn.sheet.health.most == 1400


def test_a_spell_that_ends_without_triggers_does_so_in_the_next_zone(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=BUFF)
    scene.script(
        """
        function cast(Caster, Target) AddProc(Target, 15, 100) SetSpellTriggerCount(2, 1) end
        function proc(Caster, Foe) RemoveTriggerFromSpell(1) end
        """,
        "Spells/Buff.lua",
    )
    scene.know(COURAGE)
    scene.cast(COURAGE)
    crab, harm = scene.creature(), scene.harness.minds.harm
    harm.take_health(scene.zone, scene.player.spawn, crab, 1)
    change_zone(scene)
    assert [one.triggers for one in scene.effects()] == [1]
    harm.take_health(scene.zone, scene.player.spawn, crab, 1)
    scene.run(0.5)
    assert scene.effects() == []


TICKING = BUFF.replace("lasts_until_cancelled = true\ncast_kind = 1\n", "").replace(
    "duration1 = 432000", "duration1 = 600\ncall_frequency = 40"
)


@pytest.mark.parametrize("stood", [3.0, 9.0, 11.0])
@pytest.mark.parametrize("leave", [come_again, change_zone])
def test_ticks_go_on_when_they_are_due(
    tmp_path: Path, stood: float, leave: Callable[[SpellScene], None]
) -> None:
    """Of 60 s with a period of 4 s there are 14 ticks after the cast (eq2-spells.md 6)."""
    scene = SpellScene(tmp_path, toml=TICKING)
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(stood)
    (old,) = scene.effects()
    due, ticks = old.due - scene.harness.now, old.ticks
    leave(scene)
    (spell,) = scene.effects()
    assert spell.ticks == ticks
    assert spell.due - scene.harness.now == pytest.approx(due, abs=0.5)
    scene.run(60.0)
    assert scene.effects() == []


STUNNED = """
function cast(Caster, Target) AddControlEffect(Target, 4) AddSpellTimer(5000, "later") end
function later(Caster, Target) RemoveControlEffect(Target, 4) end
"""
GIVES_A_PROC = """
function cast(Caster, Target) AddProc(Caster, 1, 100) AddSpellTimer(5000, "later") end
function later(Caster, Target) end
"""


def test_what_a_script_takes_back_later_is_taken_back_in_the_next_zone(tmp_path: Path) -> None:
    """eq2-lua.md 7.6: a timer ends with its spell, so one of a spell that goes on does as well."""
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.script(STUNNED, "Spells/Buff.lua")
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(2.0)
    come_again(scene)
    assert Control.STUN in scene.player.spawn.sheet.spells.controls
    scene.run(2.5)
    come_again(scene)
    assert Control.STUN in scene.player.spawn.sheet.spells.controls
    scene.run(1.0)
    assert Control.STUN not in scene.player.spawn.sheet.spells.controls
    assert len(scene.effects()) == 1


def test_a_crash_shortens_what_a_script_waits_for(tmp_path: Path) -> None:
    scene = SpellScene(tmp_path, toml=TIMED)
    scene.script(STUNNED, "Spells/Buff.lua")
    scene.know(COURAGE)
    scene.cast(COURAGE)
    scene.run(1.0)
    crash(scene, downtime=20.0)
    scene.run(0.5)
    assert Control.STUN not in scene.player.spawn.sheet.spells.controls
    assert len(scene.effects()) == 1


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("calls", 5), ("calls", [5, ["x", "later"], [1.0], [-1.0, "later"], [2.0, 7]]),
        ("calls", [[1.0, "x" * 300]]), ("tick", [1]), ("tick", "ab"), ("tick", [2.5, 1.0]),
        ("tick", [3, -1.0]), ("tick", [3, float("nan")]),
    ],
)  # fmt: skip
def test_damaged_times_of_a_script_are_left_out(tmp_path: Path, name: str, stored: object) -> None:
    scene = SpellScene(tmp_path, toml=TICKING)
    row = [COURAGE, 1, 1, 50.0, 0, 1, [1, 12.5], {name: stored}, None]
    scene.harness.world.events.publish(LeftZone(scene.player))
    scene.player.past.lasting = {"effects": [row]}
    scene.harness.world.events.publish(Entered(scene.player, scene.harness.now))
    (spell,) = scene.effects()
    assert spell.pending == ()
    # What the time that is left has (50 s of 4 s each).
    assert spell.ticks == 12
