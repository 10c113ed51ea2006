import io
import json
import math
from contextlib import redirect_stdout

import pytest

from emu.cli.tables import print_record, print_rows, show_moment
from tests.support.patience import within

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


@pytest.mark.slow
def test_a_table_of_very_many_rows_has_even_columns_and_is_quick(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"name": f"\x1b[{one}", "text": "\u754c" * (one % 3), "id": one} for one in range(20_000)
    ]
    with within(3):
        print_rows(rows, "table", ["name", "text", "id"])
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


def test_lines_do_not_end_in_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    print_record({"name": "Alice", "looks": "x" * 300}, "table")
    print_rows([{"name": "Alice", "remark": None}], "table", ["name", "remark"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "name   Alice"
    assert [line for line in lines if line.endswith(" ")] == []


def test_moments_are_iso_8601() -> None:
    assert show_moment(0.9) == "1970-01-01T00:00:00Z"
    assert show_moment(None) is None
    assert show_moment(math.inf) == "never"


class Terminal(io.StringIO):
    """Standard output of a terminal of 80 columns."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    return Terminal()


def test_a_name_is_whole_at_80_columns(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "OP_ServerPlayCharacterRequestMsg"
    row = {
        "first_version": 64736, "last_version": 64753, "opcode": 25, "name": name,
        "source": "another server, and a capture of the last day", "note": "sure" * 20,
    }  # fmt: skip
    with redirect_stdout(terminal):
        print_rows([row], "table", list(row))  # type: ignore[list-item]
    lines = terminal.getvalue().splitlines()
    assert any(name in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert "capture" in terminal.getvalue(), "the source is folded, not cut"
    assert capsys.readouterr().err == "too wide to show: note (--format csv shows all)\n"


def test_many_rows_are_whole_at_80_columns(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"name": f"OP_{one:040}", "source": "x" * 60, "more": None} for one in range(2000)]
    with redirect_stdout(terminal):
        print_rows(rows, "table", ["name", "source", "more"])
    lines = terminal.getvalue().splitlines()
    assert lines[-1] == rows[-1]["name"]
    assert capsys.readouterr().err == "too wide to show: source (--format csv shows all)\n"


def test_a_record_is_folded_and_not_cut(terminal: Terminal) -> None:
    with redirect_stdout(terminal):
        print_record({"name": "x" * 100, "id": 1}, "table")
    assert terminal.getvalue().count("x") == 100
