"""What `emu query` prints; asking a running server is tested with a whole server."""

import json
import socket

import pytest
from click.testing import CliRunner

from emu.cli.main import root
from emu.cli.query import lines_of, query
from emu.errors import CommandError


@pytest.mark.parametrize("verb", ["ogp", "a2s"])
def test_an_address_needs_a_port(verb: str) -> None:
    for address in ("127.0.0.1", "127.0.0.1:0", ":5"):
        assert CliRunner().invoke(root, ["query", verb, address]).exit_code == 2


def test_values_are_printed_a_line_each_and_lists_below_their_name() -> None:
    reported = {
        "game_id": 5,
        "server": {"host_name": "Qey\x1b[31mnos", "map": {"name": "Harbor"}},
        "players": [{"name": "Bob", "flags": ["alive", "vip"]}, {"name": "Zoë", "flags": []}],
        "teams": [],
    }
    assert list(lines_of(reported)) == [
        "game_id: 5",
        "server:",
        "  host_name: Qey\ufffd[31mnos",
        "  map:",
        "    name: Harbor",
        "players: 2",
        "  name Bob, flags alive, vip",
        "  name Zoë, flags ",
        "teams: ",
    ]


def test_silence_is_one_line_and_an_object_for_programs() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{silent.getsockname()[1]}"
        result = CliRunner().invoke(root, ["query", "a2s", at, "--json", "--timeout", "0.1"])
    assert isinstance(result.exception, CommandError)
    assert json.loads(result.stdout) == {"error": f"{at} does not answer"}


def test_each_protocol_is_a_verb() -> None:
    assert set(query.commands) == {"ogp", "a2s", "ssq"}
