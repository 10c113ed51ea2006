"""The list of expensive tests has those that use much in each run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import costly as listing
from tools.costly_tests import HEADER, costly, main, read

CHEAP = {f"tests/world/test_one.py::test_{number}": 0.01 for number in range(96)}


def test_a_test_that_uses_much_in_each_run_is_costly() -> None:
    first = {
        **CHEAP,
        "tests/world/test_two.py::test_a": 0.01,
        "tests/world/test_two.py::test_b": 0.1,
    }
    assert costly([first]) == ["tests/world/test_two.py::test_b"]
    again = {
        **first,
        "tests/world/test_two.py::test_b": 0.02,
        "tests/world/test_one.py::test_1": 0.5,
    }
    assert costly([first, again]) == []


def test_the_tests_of_the_whole_project_stay() -> None:
    whole = {"tests/test_layers.py::test_a": 0.2, "tests/test_layers.py::test_b": 0.3}
    assert costly([{**CHEAP, **whole}]) == []


def test_a_test_counts_with_the_mean_of_its_cases() -> None:
    cases = {
        "tests/world/test_one.py::test_x[a]": 0.01,
        "tests/world/test_one.py::test_x[b::c]": 0.09,
    }
    assert costly([{**CHEAP, **cases}]) == ["tests/world/test_one.py::test_x"]
    assert costly([{**CHEAP, **cases, "tests/world/test_one.py::test_x[d]": 0.0}]) == [
        "tests/world/test_one.py::test_x"
    ]
    many = {f"tests/world/test_one.py::test_x[{number}]": 0.0 for number in range(5)}
    assert costly([{**CHEAP, **cases, **many}]) == []


def test_one_test_of_each_file_stays() -> None:
    only = {"tests/world/test_two.py::test_a": 0.2, "tests/world/test_two.py::test_b": 0.3}
    assert costly([{**CHEAP, **only}]) == ["tests/world/test_two.py::test_b"]


def test_the_list_is_written_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times, listed = tmp_path / "times", tmp_path / "costly.txt"
    lines = [f"{seconds:.4f} {name}\n" for name, seconds in CHEAP.items()]
    times.write_text("".join(["0.5000 tests/world/test_one.py::test_x[one case]\n", *lines]))
    assert read(times)["tests/world/test_one.py::test_x[one case]"] == 0.5
    for module in ("tools.costly_tests", "tests.support.costly"):
        monkeypatch.setattr(f"{module}.LISTED", listed)
    monkeypatch.setattr("sys.argv", ["costly_tests", str(times)])
    main()
    text = listed.read_text(encoding="utf-8")
    assert text == HEADER.format(limit=3) + "tests/world/test_one.py::test_x\n"
    names = ("tests/world/test_one.py::test_x[one case]", "tests/world/test_one.py::test_1")
    tests: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    assert listing.costly_tests(tests) == tests[:1]
