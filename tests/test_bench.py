"""What the benchmark says of figures; what it measures is not for tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.bench import hops
from tools.bench.__main__ import main
from tools.bench.figures import Figure, Round, change, read_past, to_json
from tools.bench.yardsticks import rc4_loop


def figure(*ratios: float, more_is_better: bool = False) -> Figure:
    rounds = [Round(ratio * 7.0, 7.0) for ratio in ratios]
    return Figure("logins", "ms", "echo", rounds, more_is_better=more_is_better)


def past_of(one: Figure, path: Path):
    path.write_text(to_json({"section": [one]}))
    return read_past(path)[("section", "logins")]


def test_a_figure_is_the_median_of_its_rounds_ratios() -> None:
    noisy = Figure("x", "us", "echo", [Round(2, 1), Round(40, 10), Round(300, 100)])
    assert (noisy.ratio, noisy.ratios, noisy.figure) == (3.0, [2.0, 3.0, 4.0], 40)


@pytest.mark.parametrize(
    ("before", "after", "more_is_better", "said"),
    [
        ((1.0, 1.1, 1.2), (1.1, 1.2, 1.3), False, "+9%, within the spread"),
        ((1.0, 1.1, 1.2), (2.1, 2.2, 2.3), False, "+100%, WORSE"),
        ((2.1, 2.2, 2.3), (1.0, 1.1, 1.2), False, "-50%, better"),
        ((1.0, 1.1, 1.2), (2.1, 2.2, 2.3), True, "+100%, better"),
        ((2.1, 2.2, 2.3), (1.0, 1.1, 1.2), True, "-50%, WORSE"),
    ],
)
def test_only_what_lies_outside_of_both_spreads_is_better_or_worse(
    before, after, more_is_better, said, tmp_path
) -> None:
    past = past_of(figure(*before), tmp_path / "past.json")
    assert change(figure(*after, more_is_better=more_is_better), past) == said


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"figures": [{"section": 1}]}', "\xff"])
def test_a_file_of_something_else_is_refused_by_its_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"other\.json: not written by --json"):
        read_past(path)
    done = CliRunner().invoke(main, ["structs", "--against", str(path)])
    assert (done.exit_code, "other.json" in done.output) == (2, True)


def test_fewer_than_five_rounds_are_refused() -> None:
    assert CliRunner().invoke(main, ["structs", "--rounds", "4"]).exit_code == 2


@pytest.mark.slow
def test_a_section_is_measured_printed_and_compared(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["structs", "--json"])
    assert done.exit_code == 0, done.output
    run = json.loads(done.stdout)
    assert all(len(one["rounds"]) == 5 for one in run["figures"])
    assert all(one["low"] <= one["ratio"] <= one["high"] for one in run["figures"])
    path = tmp_path / "before.json"
    path.write_text(done.stdout)
    again = CliRunner().invoke(main, ["structs", "--against", str(path)], env={"COLUMNS": "200"})
    assert "LS_LoginRequest, decode" in again.output
    assert "against" in again.output
    assert "new" not in again.output


def test_the_loop_takes_time() -> None:
    loop = rc4_loop(1000)
    assert loop.cpu > 0
    assert loop.wall > 0


@pytest.mark.slow
def test_what_one_login_calls_is_counted_by_file_and_function() -> None:
    with hops.hops_server() as server:
        found = hops.one_round(server)
    login, datagram = found[hops.LOGIN], found[hops.DATAGRAM]
    (times,) = [
        count
        for name, count in login["login/accounts/authentication.py"].items()
        if name.startswith("AccountService.authenticate:")
    ]
    assert times == 1
    assert len(datagram) < len(login) < hops.calls(login)
    assert "login/messages/dispatch.py" in datagram
