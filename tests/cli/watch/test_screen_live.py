"""The live view without a screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("textual", reason="the extra `editor` is not installed")

from emu.cli.watch.screen import MOST_ROWS, Live, arranged, cell
from tests.support.admin.snapshots import Measured
from tests.support.admin.statuses import BOB, HARBOR, crowd

PEOPLE = (
    replace(BOB, name="Bob", level=9),
    replace(BOB, name="Zoë", level=20, link_dead=True),
    replace(BOB, name="anna", level=50),
)


def live(**changes: object) -> Live:
    view = Live()
    view.took(Measured().snapshot(**{"players": PEOPLE, **changes}))
    return view


def names(view: Live) -> list[str]:
    return [row[0] for row in view.table()[0]]


def test_before_the_first_look_there_is_nothing_to_show() -> None:
    view = Live()
    assert view.lines() == ["waiting for the server"]
    assert view.table() == ([], 0)
    assert view.columns() == []
    view.sort_by_next()
    view.failed("no server")
    assert view.banner() == "NO ANSWER, trying again: no server"


def test_rows_are_sorted_by_each_column_in_turn_and_back() -> None:
    view = live()
    assert names(view) == ["Bob", "Zoë", "anna"]
    view.sort_by_next()
    assert view.order == ("player", False)
    assert names(view) == ["anna", "Bob", "Zoë"], "as people sort names"
    view.sort_by_next()
    view.reverse()
    assert view.order == ("level", True)
    assert names(view) == ["anna", "Zoë", "Bob"], "by the number, not by its first digit"
    for _ in range(len(view.columns()) - 1):
        view.sort_by_next()
    assert view.order == ("", False)
    view.reverse()
    assert names(view) == ["anna", "Zoë", "Bob"], "as they came, turned round"


def test_a_click_on_a_column_sorts_and_a_second_one_turns_round() -> None:
    view = live()
    view.sort_by("level")
    view.sort_by("level")
    assert names(view) == ["anna", "Zoë", "Bob"]
    view.sort_by("player")
    assert view.order == ("player", False)


def test_each_table_keeps_its_own_order() -> None:
    view = live(zones=(HARBOR, replace(HARBOR, instance=1, spawns=2)))
    view.sort_by("level")
    view.view = "zones"
    assert view.order == ("", False)
    view.sort_by("spawns")
    assert [row[1] for row in view.table()[0]] == ["1", "0"]
    view.view = "players"
    assert view.order == ("level", False)


def test_a_filter_looks_into_all_cells() -> None:
    view = live()
    view.wanted = " LINK-dead "
    assert names(view) == ["Zoë"]
    view.wanted = "ZOË"
    assert names(view) == ["Zoë"]
    view.wanted = "nobody"
    assert view.table() == ([], 0)
    assert view.columns(), "the columns stay"


def test_of_a_crowd_so_many_are_shown() -> None:
    shown, besides = live(players=crowd(MOST_ROWS + 7)).table()
    assert (len(shown), besides) == (MOST_ROWS, 7)


def test_a_restart_is_reported_and_begins_new_rates() -> None:
    view, measured = Live(), Measured()
    view.took(measured.snapshot(taken=10.0))
    view.took(measured.snapshot(taken=12.0))
    assert view.rates is not None
    assert view.rates.rate("logins") == 0.0
    assert view.banner() == ""
    view.failed("no server can be reached")
    assert "NO ANSWER" in view.banner()
    assert "Qeynos" in view.lines()[0], "what was seen last stays"
    view.took(Measured().snapshot(taken=1.0, process=99))
    assert view.rates.rate("logins") is None
    assert view.banner() == "the server has restarted 1x since this view was opened"
    view.paused = True
    assert view.banner().startswith("PAUSED")


def test_the_log_has_the_newest_first() -> None:
    view = Live()
    view.view = "log"
    view.took(replace(Measured().snapshot(), log=("one", "two")))
    assert view.table() == ([["two"], ["one"]], 0)


def test_cells_are_short_and_do_not_steer_the_terminal() -> None:
    shown = [cell("online", 3725), cell("ping", 7), cell("a_second", 1234.5), cell("ping", None)]
    assert shown == ["1:02:05", "7", "1.23k", "-"]
    assert cell("player", "a\x1b[2J") == "a\ufffd[2J"


def test_what_is_not_known_comes_first() -> None:
    found = arranged([{"a": 2}, {"a": None}, {"a": 1.5}], "a")
    assert [row["a"] for row in found] == [None, 1.5, 2]
