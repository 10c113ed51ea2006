import pytest

from emu.admin.ggmp.acting import (
    EVERYTHING,
    GgmpAction,
    Grant,
    StaticClient,
    grant_of,
    read_clients,
    read_grants,
)
from emu.errors import CommandError

TOKEN = "0123456789abcdef"
TEXT = f"""
# who may watch
radar query,Watch {TOKEN}
bot * ABCDEFGHIJKLMNOPQRST
"""


def test_a_file_of_tokens() -> None:
    radar, bot = read_grants(TEXT)
    assert radar == Grant("radar", TOKEN, frozenset((GgmpAction.QUERY, GgmpAction.WATCH)))
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


def test_a_file_of_clients() -> None:
    found = read_clients("# ours\n\nradar query 300 192.0.2.7\nbot * 1 ::ffff:192.0.2.8\n")
    radar = Grant("radar", "", frozenset((GgmpAction.QUERY,)))
    bot = Grant("bot", "", EVERYTHING)
    assert found == {
        300: StaticClient(300, "192.0.2.7", radar),
        1: StaticClient(1, "192.0.2.8", bot),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("radar * 5", "line 1: must be a name, actions, a number and an address"),
        ("radar * 0 192.0.2.7", "line 1: a client has a number from 1 to 16777215"),
        ("radar * x 192.0.2.7", "line 1: a client has a number from 1 to 16777215"),
        ("radar * 5 somewhere", "line 1: somewhere is no IP address"),
        ("radar fly 5 192.0.2.7", "line 1: fly is none of query, watch, say, move"),
        ("a * 5 192.0.2.7\nb * 5 192.0.2.8", "line 2: client 5 is listed twice"),
    ],
)
def test_what_is_wrong_in_a_file_of_clients(text: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        read_clients(text)
    assert str(caught.value) == reason
