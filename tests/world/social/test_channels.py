"""Channels of players' own."""

from __future__ import annotations

import pytest

from emu.errors import CommandError
from emu.world.social.channels import MOST_CHANNELS, MOST_OF_ONE, Channels


def test_a_channel_lives_while_a_player_is_in_it() -> None:
    channels = Channels()
    made = channels.join("Trade", 1)
    assert channels.join("tRADE", 2) is made
    assert [one.name for one in channels.of(2)] == ["Trade"]
    channels.leave("TRADE", 1)
    assert channels.find("trade") is made
    channels.leave("Trade", 2)
    assert channels.find("trade") is None


def test_the_first_one_sets_the_password() -> None:
    channels = Channels()
    channels.join("Club", 1, "sesame")
    with pytest.raises(CommandError, match="another password"):
        channels.join("Club", 2)
    with pytest.raises(CommandError, match="already"):
        channels.join("Club", 1, "sesame")
    channels.join("Club", 2, "sesame")


@pytest.mark.parametrize("name", ["", "two words", "a\nb", "x" * 33])
def test_names_are_words(name: str) -> None:
    with pytest.raises(CommandError, match="a word"):
        Channels().join(name, 1)


def test_there_are_limits() -> None:
    channels = Channels()
    for number in range(MOST_OF_ONE):
        channels.join(f"c{number}", 1)
    with pytest.raises(CommandError, match="the limit"):
        channels.join("one", 1)
    for number in range(MOST_OF_ONE, MOST_CHANNELS):
        channels.join(f"c{number}", number)
    with pytest.raises(CommandError, match="too many"):
        channels.join("last", 99_999)


def test_the_world_channels_channels_have_no_password_and_their_own_spelling() -> None:
    channels = Channels(["General"])
    assert channels.join("GENERAL", 5, "secret").name == "General"
    assert channels.join("general", 6).name == "General"
