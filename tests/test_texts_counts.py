import pytest

from emu.texts import counted


@pytest.mark.parametrize(
    ("count", "written"), [(0, "0 players"), (1, "1 player"), (2, "2 players")]
)
def test_one_is_singular(count: int, written: str) -> None:
    assert counted(count, "player") == written
