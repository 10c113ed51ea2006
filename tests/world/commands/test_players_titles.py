"""Titles by command: shown, chosen, given."""

from __future__ import annotations

from emu.model import Title
from tests.support.world.worlds import WorldHarness


def test_a_given_title_is_chosen_seen_and_kept(harness: WorldHarness) -> None:
    one, other = harness.stand(5, name="Aldana"), harness.stand(6)
    assert harness.console("givetitle Aldana guide").lines == ("Aldana has the title Guide now",)
    assert harness.console("givetitle Aldana of the Isle").ok
    assert "has the title" in harness.console("givetitle Aldana Guide").lines[0]
    assert one.types("/title list") == [
        "0: the Newcomer (behind the name)", "1: Guide (before the name)",
        "2: of the Isle (behind the name)",
    ]  # fmt: skip
    assert one.types("/title setprefix 1")[1] == "1: Guide (before the name, borne)"
    one.types("/title setsuffix of the isle")
    assert one.types("/title setsuffix nonsense") == [
        "you have no such title to bear behind your name"
    ]
    harness.run(3.0)
    seen = other.fields_of("Aldana")
    assert (seen["prefix"], seen["suffix"]) == ("Guide", "of the Isle")
    reported = one.decoded("WS_TitleUpdate")[-1]
    assert (reported["current_prefix"], reported["current_suffix"]) == (1, 2)
    row = harness.store.rows[5]
    assert (row.prefix, row.suffix) == ("Guide", "of the Isle")
    assert row.titles[1] == Title("Guide", is_prefix=True)
    one.types("/title setsuffix none")
    harness.run(3.0)
    assert harness.store.rows[5].suffix == ""


def test_a_title_from_the_store_is_listed_as_borne(harness: WorldHarness) -> None:
    stored = str(b"Guide", "ascii")  # another object than the title's text, as read from a row
    one = harness.stand(5, titles=(Title("Guide", is_prefix=True),), prefix=stored, last_played=1.0)
    assert one.types("/title list") == ["0: Guide (before the name, borne)"]


def test_fix_sends_the_titles_again(harness: WorldHarness) -> None:
    one = harness.stand(5, titles=(Title("of the Meadow", False),))
    before = len(one.decoded("WS_TitleUpdate"))
    assert one.types("/title fix")[0] == "0: of the Meadow (behind the name)"
    sent = one.decoded("WS_TitleUpdate")
    assert len(sent) == before + 1
    assert sent[-1] == sent[-2]
