"""Titles: given, worn, sent to the client and shown to others."""

from __future__ import annotations

import pytest

from emu.errors import CommandError
from emu.model import Title
from emu.world.actors.player import LONGEST_TITLE, MOST_TITLES, Titles
from tests.support.world.worlds import WorldHarness

SIR, ISLE = Title("Sir", is_prefix=True), Title("of the Isle")


def test_only_given_titles_are_borne() -> None:
    titles = Titles([SIR], prefix="Sir", suffix="of the Isle")
    assert (titles.prefix, titles.suffix) == ("Sir", "")
    with pytest.raises(CommandError, match="no title of the Isle"):
        titles.bear(ISLE)
    assert titles.give(ISLE)
    assert not titles.give(ISLE)
    titles.bear(titles.find("1", is_prefix=False))
    assert titles.suffix == "of the Isle"
    titles.lay_down(is_prefix=True)
    assert titles.prefix == ""
    with pytest.raises(CommandError, match="before your name"):
        titles.find("of the isle", is_prefix=True)


def test_titles_are_bounded() -> None:
    titles = Titles()
    for text in ("", "x" * (LONGEST_TITLE + 1), "ä" * (LONGEST_TITLE // 2 + 1), "a\nb"):
        with pytest.raises(CommandError, match="letters"):
            titles.give(Title(text))
    for number in range(MOST_TITLES):
        titles.give(Title(str(number)))
    with pytest.raises(CommandError, match="more than"):
        titles.give(ISLE)


def test_the_update_has_the_recorded_bytes(harness: WorldHarness) -> None:
    """Two titles, none borne: docs/protocol/world/entering.md#order says 29 bytes for them."""
    client = harness.stand(5, titles=(SIR, Title("of EQ2Emulator")), last_played=1.0)
    (payload,) = [data for name, data in client.log if name == "OP_TitleUpdateMsg"]
    assert len(payload) == 29
    assert payload[-4:].hex() == "ffffffff"


def test_others_see_what_is_borne(harness: WorldHarness) -> None:
    harness.stand(5, name="Aldana", titles=(SIR, ISLE), suffix="of the Isle", last_played=1.0)
    other = harness.stand(6)
    seen = other.fields_of("Aldana")
    assert (seen.get("prefix", ""), seen["suffix"]) == ("", "of the Isle")
