from emu.config import Config
from emu.config.rules import contradictions


def test_the_defaults_do_not_contradict_each_other() -> None:
    assert list(contradictions(Config())) == []
