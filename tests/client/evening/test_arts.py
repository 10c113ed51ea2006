"""The choice of spells in fights."""

from emu.client.evening.arts import (
    CAST_PAUSE,
    HEALTHY,
    HELPS_FOR,
    LASTS_FOR,
    RECOVERY,
    WOUNDED,
    Arts,
)
from emu.client.world.events import CastBegun, LineShown, ZoneToLoad
from emu.times import Monotonic

NOW = Monotonic(100.0)
SWING, SHOUT, TOUGH = 10019, 10012, 2550382
KNOWN = (SWING, SHOUT, TOUGH)


def later(seconds: float) -> Monotonic:
    return Monotonic(NOW + seconds)


def test_one_after_the_other_with_a_pause() -> None:
    arts = Arts()
    assert arts.choose(KNOWN, NOW) == SWING
    assert arts.choose(KNOWN, later(CAST_PAUSE - 0.1)) is None
    assert arts.choose(KNOWN, later(CAST_PAUSE)) == SHOUT
    assert arts.choose((), later(60.0)) is None


def test_the_next_one_comes_at_once_after_a_refusal_until_all_were_refused() -> None:
    arts = Arts()
    for number, spell in enumerate(KNOWN):
        assert arts.choose(KNOWN, later(number)) == spell
        arts.refused(later(number))
    assert arts.choose(KNOWN, later(3.0)) is None
    assert arts.choose(KNOWN, later(3.0 + CAST_PAUSE)) == SWING


def test_what_strikes_comes_again_and_what_helps_later() -> None:
    arts = Arts()
    assert arts.choose(KNOWN, NOW) == SWING
    arts.struck(later(1.0))
    arts.said("spell", "Your Wild Swing was successful on a bear!", later(1.0))
    assert arts.choose(KNOWN, later(1.0 + RECOVERY)) == SHOUT
    arts.said("spell", "Your Shout was successful on a bear!", later(2.0))
    assert arts.choose(KNOWN, later(3.0)) == TOUGH
    arts.said("spell", "Your Toughness was successful on Aldana!", later(4.0))
    assert [arts.choose(KNOWN, later(5.0 + at * CAST_PAUSE)) for at in range(3)] == [SWING] * 3
    assert arts.choose(KNOWN, later(4.0 + HELPS_FOR)) == SHOUT


def test_what_a_second_cast_takes_off_is_cast_once_more_and_then_left_alone() -> None:
    # Recorded: a second cast of an own spell that lasts takes it off.
    arts = Arts()
    assert arts.choose((TOUGH,), NOW) == TOUGH
    arts.said("spell", "Your Toughness fades.", later(0.1))
    assert arts.choose((TOUGH, SHOUT), later(0.1 + RECOVERY)) == TOUGH
    arts.said("spell_success", "Your Toughness was successful on Aldana!", later(3.0))
    assert arts.choose((TOUGH,), later(3.0 + HELPS_FOR + 1.0)) is None
    assert arts.choose((TOUGH,), later(3.0 + LASTS_FOR + 1.0)) == TOUGH


def test_what_has_healed_it_is_cast_when_it_is_wounded() -> None:
    arts = Arts()
    arts.handle_event(ZoneToLoad("bog", "The Bog", "Aldana", 0.0, 0.0, 0.0), 1, NOW)
    known = (TOUGH, SWING, SHOUT)
    assert arts.choose(known, NOW, 0.7) == TOUGH
    arts.said("spell_success", "Your Minor Healing was successful on Aldana!", later(1.0))
    assert arts.choose(known, later(1.6), 0.8) == SWING
    assert arts.choose(known, later(4.6), WOUNDED) == SHOUT
    assert arts.choose(known, later(7.6), WOUNDED - 0.1) == TOUGH
    arts.refused(later(7.7))
    assert arts.choose(known, later(7.8), WOUNDED - 0.1) == SWING, "the other one is not ready"
    assert arts.choose(known, later(10.8), WOUNDED - 0.1) == TOUGH


def test_who_is_healthy_does_not_heal_itself() -> None:
    arts = Arts()
    arts.handle_event(ZoneToLoad("bog", "The Bog", "Aldana", 0.0, 0.0, 0.0), 1, NOW)
    assert arts.choose((TOUGH,), NOW, 0.7) == TOUGH
    arts.said("spell_success", "Your Minor Healing was successful on Aldana!", later(1.0))
    assert arts.choose((TOUGH,), later(2.0), 0.8) is None, "it has more health now"
    late = 1.0 + HELPS_FOR
    assert arts.choose((TOUGH,), later(late + CAST_PAUSE), HEALTHY) is None
    assert arts.choose((TOUGH,), later(late + 2 * CAST_PAUSE), HEALTHY - 0.1) == TOUGH


def test_the_next_one_begins_after_a_long_one() -> None:
    """The line of a spell of three seconds was taken for the success of the next one."""
    arts = Arts()
    assert arts.choose(KNOWN, NOW) == SWING
    arts.handle_event(CastBegun("Minor Arch Healing", CAST_PAUSE + 1.0), 1, later(0.1))
    assert arts.choose(KNOWN, later(CAST_PAUSE)) is None
    arts.said("spell", "Your Minor Arch Healing was successful on Aldana!", later(4.1))
    assert arts.choose(KNOWN, later(4.1 + RECOVERY)) == SHOUT
    arts.handle_event(CastBegun("Shout", 0.0), 1, later(5.0))
    assert arts.choose(KNOWN, later(4.1 + RECOVERY + CAST_PAUSE - 0.1)) is None


def test_what_fades_by_itself_was_not_taken_off() -> None:
    arts = Arts()
    assert arts.choose((TOUGH,), NOW) == TOUGH
    arts.said("spell_success", "Your Toughness was successful on Aldana!", later(2.0))
    arts.said("spell", "Your Toughness fades.", later(30.0))
    assert arts.choose((TOUGH,), later(2.0 + HELPS_FOR + 1.0)) == TOUGH


def test_other_lines_change_nothing() -> None:
    arts = Arts()
    arts.said("spell", "Your Shout was successful on a bear!", NOW)
    assert arts.choose(KNOWN, NOW) == SWING
    arts.said("spell", "You get better at Defense (35/45).", NOW)
    assert arts.choose(KNOWN, later(1.0)) is None


def test_a_success_may_have_a_text_of_its_own() -> None:
    # "You call lightning down on" and the like are texts of the content file.
    arts = Arts()
    assert arts.choose(KNOWN, NOW) == SWING
    arts.struck(later(1.0))
    arts.handle_event(LineShown("spell_success", "a bear is struck by a bolt!"), 1, later(1.0))
    assert arts.choose(KNOWN, later(1.0 + RECOVERY)) == SHOUT
    arts.handle_event(LineShown("spell_success", "a bear is rooted!"), 1, later(2.0))
    assert arts.choose(KNOWN, later(3.0)) == TOUGH
    assert [arts.choose(KNOWN, later(6.0 + at * CAST_PAUSE)) for at in range(3)] == [
        SWING, TOUGH, SWING,
    ]  # fmt: skip


def test_what_succeeds_on_itself_does_not_strike() -> None:
    arts = Arts()
    arts.handle_event(ZoneToLoad("zone", "Zone", "Aldana", 0.0, 0.0, 0.0), 1, NOW)
    assert arts.choose((TOUGH,), NOW) == TOUGH
    arts.struck(later(1.0))
    arts.said("spell_success", "Your Toughness was successful on Aldana!", later(1.0))
    assert arts.choose((TOUGH,), later(HELPS_FOR)) is None
