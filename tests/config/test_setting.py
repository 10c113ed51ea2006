from __future__ import annotations

from dataclasses import dataclass, fields

from emu.config import readers
from emu.config.setting import setting


def test_a_setting_has_a_default_and_what_is_said_of_it() -> None:
    @dataclass
    class Table:
        level: int = setting(3, readers.integer(1, 9), "how loud")
        word: str = setting("", readers.text(0, 9), "say it", secret=True)

    assert Table() == Table(3, "")
    level, word = fields(Table)
    assert level.metadata["reader"]("4") == 4
    assert [one.metadata["about"] for one in (level, word)] == ["how loud", "say it"]
    assert [one.metadata["secret"] for one in (level, word)] == [False, True]
