from attrs import Factory, frozen

from emu.config.setting import secret_text, setting, settings_of, with_settings


@frozen
class Table:
    level: int = setting(3, "How loud.", unit="decibel", limits=(1, 9), live=True)
    word: str = secret_text("What to say.")


@frozen
class Whole:
    sound: Table = Factory(Table)


def test_a_declaration_states_everything_in_one_place() -> None:
    level, word = settings_of(Whole)
    assert (level.key, level.value(Whole()), level.limits) == ("sound.level", 3, "1 to 9")
    assert (level.rule.about, level.rule.unit, level.rule.live) == ("How loud.", "decibel", True)
    assert (word.rule.secret, word.rule.live, word.limits) == (True, False, "0 to 255 characters")


def test_other_values_make_another_configuration() -> None:
    assert with_settings(Whole(), {"sound": {"level": 5}}).sound == Table(level=5)
