"""`emu query ssq` against a responder in a thread."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator

import pytest

from emu.admin.ssq.responder import SsqResponder, SsqTokens
from emu.admin.ssq.tables import SsqContent
from tests.support.admin.answering import answering
from tests.support.admin.worked_examples import player_status, server_status
from tests.support.running.command_line import CommandLine


@pytest.fixture
def address() -> Iterator[str]:
    players = tuple(player_status(number, f"Player{number:03}") for number in range(300))
    reported = SsqContent(server_status(players=players), "192.0.2.1")
    core = SsqResponder(lambda _now: reported, SsqTokens("john", bytes))
    with answering(core) as at:
        yield at


def test_a_table(emu: CommandLine, address: str) -> None:
    (row,) = json.loads(emu.good("query", "ssq", address, "--json").stdout)
    assert (row["hostname"], row["numplayers"]) == ("Qeynos", "2")
    reported = emu.good(
        "query", "ssq", address, "SELECT name,name WHERE name = player007", "--format", "csv"
    )
    assert reported.stdout == "name 1,name 2\nPlayer007,Player007\n"
    reported = emu.good("query", "ssq", address, "SELECT map HEADERS NULL", "--format", "csv")
    assert reported.stdout == "column 1\nQeynos Harbor\n"


def test_with_a_password_the_answer_is_whole(emu: CommandLine, address: str) -> None:
    text = "SELECT playername,playerip"
    short = json.loads(emu.good("query", "ssq", address, text, "--json").stdout)
    assert 50 < len(short) < 300
    assert set(short[0]) == {"playername"}
    whole = emu.good("query", "ssq", address, text, "--json", "--password", "john")
    rows = json.loads(whole.stdout)
    assert (len(rows), rows[299]["playerip"]) == (300, "192.0.2.9")


def test_a_ping_shows_how_long_it_took(emu: CommandLine, address: str) -> None:
    for words in ("PING", "sp ping"):
        reported = emu.good("query", "ssq", address, words).stdout
        assert re.fullmatch(rf"{address} answers after \d+\.\d ms\n", reported)
    record = json.loads(emu.good("query", "ssq", address, "PING", "--json").stdout)
    assert list(record) == ["ms"]


def test_a_failure_is_json_as_well(emu: CommandLine, address: str) -> None:
    reported = emu.run("query", "ssq", address, "DROP TABLE players", "--json")
    assert json.loads(reported.stdout)["error"].startswith("the server does not understand")
    assert reported.exit_code == 1


def test_what_goes_wrong(emu: CommandLine, address: str) -> None:
    wrong = emu.refused("query", "ssq", address, "SP info", "--password", "jane")
    assert "refuses the password" in wrong
    assert "does not understand" in emu.refused("query", "ssq", address, "DROP TABLE players")
    assert "at most 4096 bytes" in emu.refused("query", "ssq", address, "x" * 5000)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        silent = f"127.0.0.1:{deaf.getsockname()[1]}"
        assert "does not answer" in emu.refused("query", "ssq", silent, "--timeout", "0.2")
    assert "nothing listens" in emu.refused("query", "ssq", silent)
