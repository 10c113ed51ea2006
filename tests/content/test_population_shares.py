"""The comparison of what stands with the rows' weights, on a small content file."""

from pathlib import Path
from random import Random

import pytest

from emu.content.population import Population
from tests.content.test_population import ZoneBuilder
from tools import content_shares


@pytest.fixture
def content(tmp_path: Path) -> Path:
    builder = ZoneBuilder(tmp_path)
    for number in range(1, 7):
        builder.spawn(number)
    builder.place(1, (1, 50), (2, 36), (3, 14), (4, 0))
    builder.place(2, (5, 100), group=21)
    builder.place(3, (6, 100), group=22)
    builder.associate(21, 22)
    builder.chance(22, 10)
    builder.build()
    return tmp_path / "content.sqlite"


def test_shares_are_those_of_the_rows(content: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert content_shares.main([str(content), "9", "--runs", "300"]) == 0
    assert capsys.readouterr().out == (
        "meadow: 3 placements, 2 to 2 stand; 1 choices and 1 sets of groups tested,"
        " 0 and 0 differ\n"
    )


def test_a_wrong_choice_is_found(
    content: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Population, "_choose", lambda _self, groups: Random().choice(groups))
    assert content_shares.main([str(content), "9", "77", "--runs", "300"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("0 and 1 differ")
    assert "of weights {21: 50.0, 22: 10.0}" in lines[1]
    assert lines[2] == "zone 77: is not in the file"
