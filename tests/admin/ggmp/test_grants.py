import pytest

from emu.admin.ggmp.grants import EVERYTHING, Action, Grant, grant_of, read_grants
from emu.errors import CommandError

TOKEN = "0123456789abcdef"
TEXT = f"""
# who may watch
radar query,Watch {TOKEN}
bot * ABCDEFGHIJKLMNOPQRST
"""


def test_a_file_of_tokens() -> None:
    radar, bot = read_grants(TEXT)
    assert radar == Grant("radar", TOKEN, frozenset((Action.QUERY, Action.WATCH)))
    assert bot.actions == EVERYTHING
    assert grant_of((radar, bot), TOKEN) is radar
    assert grant_of((radar, bot), TOKEN.upper()) is None
    assert grant_of((), TOKEN) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("radar query", "line 1: must be a name, actions and a token"),
        ("radar fly 0123456789abcdef", "line 1: fly is none of query, watch, say, move"),
        ("radar * short", "line 1: a token has 16 to 255 bytes"),
    ],
)
def test_what_is_wrong_in_it(line: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        read_grants(line)
    assert str(caught.value) == reason
