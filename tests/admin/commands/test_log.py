"""The command that searches the log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emu.admin.commands import log
from emu.admin.commands.log import LogCommandContext
from emu.texts import timestamp
from tests.support.admin.commanding import CommandBench

START = 1_800_000_000  # 2027-01-15T08:00:00Z
LINES = [
    ("info", "world", "Aldana from 192.0.2.7, client 546, entered Antonica"),
    ("warn", "world", "a tick took 312 ms"),
    ("info", "login", "login of alice from 192.0.2.7, client 546"),
    ("info", "world", "Ghost left Antonica: camped"),
]


async def at_once(call: Callable[[], Any]) -> Any:
    return call()


def lines() -> list[str]:
    return [
        f"{timestamp(START + 60 * at)} {level:<5} {area}: {text}"
        for at, (level, area, text) in enumerate(LINES)
    ]


def bench(path: Path | None) -> CommandBench:
    about = LogCommandContext(at_once, lambda: path, lines, lambda text: "Ghost" in text)
    return CommandBench(log.COMMANDS.commands(about))


@pytest.fixture(params=["file", "memory"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> CommandBench:
    """The same lines in a file, and in memory alone."""
    path = tmp_path / "emu.log"
    path.write_text("\n".join(lines()) + "\n")
    return bench(path if request.param == "file" else None)


def texts(made: CommandBench, line: str) -> list[str]:
    return [one["text"] for one in made.run(line).data["lines"]]


def test_all_is_shown_but_addresses_and_hidden_players(both: CommandBench) -> None:
    assert texts(both, "log show") == [
        "Aldana from …, client 546, entered Antonica", "a tick took 312 ms",
        "login of alice from …, client 546",
    ]  # fmt: skip
    assert both.run("log show").lines[1] == "2027-01-15T08:01:00Z warn  world: a tick took 312 ms"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("log show warn", [1]),
        ("log show info login", [2]),
        ("log show info all any any end ALDANA", [0]),
        ("log show info all any any end tick took", [1]),
        ("log show info all 2027-01-15T08:01 any", [1, 2]),
        ("log show info all any 2027-01-15T09:00:30+01:00", [0]),
        ("log show info all 2027-01-16", []),
    ],
)
def test_lines_are_chosen(both: CommandBench, line: str, found: list[int]) -> None:
    assert texts(both, line) == [texts(both, "log show")[one] for one in found]


def test_nothing_found_says_so(both: CommandBench) -> None:
    assert both.run("log show error").lines == ("no line was found",)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("log show loud", "level"),
        ("log show info all yesterday", "yesterday is no date or time"),
        ("log show info all any any here", "here is no place in the log; end is its end"),
    ],
)
def test_wrong_filters_are_refused(both: CommandBench, line: str, text: str) -> None:
    reply = both.run(line)
    assert not reply.ok
    assert text in reply.text


def test_older_lines_follow_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST", 2)
    path = tmp_path / "emu.log"
    path.write_text("\n".join(lines()) + "\n")
    made = bench(path)
    first = made.run("log show").data
    assert first["has_file"]
    assert [one["text"] for one in first["lines"]] == ["login of alice from …, client 546"]
    older = made.run(f"log show info all any any {first['next']}").data
    assert [one["level"] for one in older["lines"]] == ["info", "warn"]
    assert (
        older["next"] == ""
        or made.run(f"log show info all any any {older['next']}").data["lines"] == []
    )


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "emu.log").mkdir()
    reply = bench(tmp_path / "emu.log").run("log show")
    assert not reply.ok
    assert "the log cannot be read" in reply.text


def test_without_a_file_the_answer_says_so() -> None:
    found = bench(None).run("log show").data
    assert (found["has_file"], found["next"]) == (False, "")
