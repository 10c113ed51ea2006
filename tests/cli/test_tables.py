import json
import math
import time

import pytest

from emu.cli.tables import print_record, print_rows, show_moment

ROWS = [
    {"name": "a,b", "up": True, "count": 3, "gone": None, "not shown": 1},
    {"name": "x" * 300, "up": False, "count": 0, "gone": None},
]
COLUMNS = ("name", "up", "count", "gone")


def test_csv_quotes_what_needs_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(ROWS, "csv", COLUMNS)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["name,up,count,gone", '"a,b",yes,3,']


def test_json_keeps_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(ROWS[:1], "json", COLUMNS)
    assert json.loads(capsys.readouterr().out) == [
        {"name": "a,b", "up": True, "count": 3, "gone": None}
    ]
    print_rows([], "json", COLUMNS)
    assert json.loads(capsys.readouterr().out) == []


def test_a_table_that_is_no_terminals_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(ROWS, "table", COLUMNS)
    assert "x" * 300 in capsys.readouterr().out


def test_a_name_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([{"name": "\x1b[31mred[bold]"}], "table", ["name"])
    print_record({"name": "\x1b[31mred[bold]"}, "table")
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert output.count("\ufffd[31mred[bold]") == 2


def test_a_table_of_very_many_rows_has_even_columns_and_is_quick(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"name": f"\x1b[{one}", "text": "\u754c" * (one % 3), "id": one} for one in range(20_000)
    ]
    begun = time.perf_counter()
    print_rows(rows, "table", ["name", "text", "id"])
    assert time.perf_counter() - begun < 3.0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20_001
    assert lines[0] == "name      text   id"
    assert lines[1] == "\ufffd[0              0"
    assert lines[3] == "\ufffd[2       \u754c\u754c   2"
    assert "\x1b" not in "".join(lines)


def test_one_record_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    print_record({"name": "Alice", "id": 1}, "json")
    assert json.loads(capsys.readouterr().out) == {"name": "Alice", "id": 1}
    print_record({"name": "Alice", "id": 1}, "csv")
    assert capsys.readouterr().out == "name,id\nAlice,1\n"
    print_record({"name": "Alice", "id": 1}, "table")
    assert capsys.readouterr().out.split() == ["name", "Alice", "id", "1"]


def test_moments_are_iso_8601() -> None:
    assert show_moment(0.9) == "1970-01-01T00:00:00Z"
    assert show_moment(None) is None
    assert show_moment(math.inf) == "never"
