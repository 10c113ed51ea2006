"""RCON clients that none of us wrote, on a running server: from PyPI, npm and Debian."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import ensureDeferred, gatherResults

from emu.commands import Call, Command
from tests.support.foreign import rcon_clients
from tests.support.foreign.npm import npm_client, npm_clients
from tests.support.foreign.programs import debian_program, run_beside
from tests.support.running.whole_server import HOST, Harness, find_port, harness

SETTINGS = {"rcon.listen": f"{HOST}:0", "rcon.password": "sekret"}
OF_PYPI = {**rcon_clients.CLIENTS, **rcon_clients.FOR_SRCDS}
ASCII_ONLY = {"aiorcon", "python-valve", "simple-rcon", "valve-server-query"}
FIRST_PACKET = {"aio-mc-rcon", "modern-rcon", "rcon-client"}
"""Clients that take one packet for the whole answer, whatever the server does."""
ONE_READ = {"rcon-srcds", "simple-rcon", "valve-server-query"}
"""Clients that take what they happen to read at once for one answer, the next answer too."""
DEAF = {"aio-mc-rcon"}
"""Clients that take the rest of a long answer for the next one."""

LINES = (f"{line:03} Zoë und Łukasz sagen «hé», 你好 {'x' * (line % 50)}\n" for line in range(200))
LONG = "".join(LINES)
PLAIN = LONG.encode("ascii", "replace").decode()


async def at_length(_call: Call) -> str:
    return LONG


async def plainly(_call: Call) -> str:
    return PLAIN


def add_long_answers(server: Harness) -> int:
    """Add two commands that answer in several packets; returns the port."""
    server.service.server.admin.commands.add(Command("long", "answer at length", at_length))
    server.service.server.admin.commands.add(Command("plain", "answer in plain letters", plainly))
    return find_port(server.log.text, "rcon", "administrators on TCP")


def words_of(name: str) -> list[str]:
    """Return the words that start a client."""
    if name in OF_PYPI:
        return [sys.executable, rcon_clients.__file__, name]
    return npm_client("rcon", name)


async def answers_of(name: str, port: int, password: str, *lines: str) -> list[str] | None:
    """Return what a client made of the answers; None when its password was refused."""
    ended = await run_beside([*words_of(name), HOST, str(port), password, *lines])
    assert ended.status in (0, rcon_clients.REFUSED), ended.errors
    return json.loads(ended.output) if ended.status == 0 else None


def closed_up(text: str) -> str:
    """Return a text without the blanks that fill up its packets."""
    return "".join(text.split())


def check_long(name: str, answer: str) -> None:
    """See that a client has got all of the long answer that it can."""
    given, wanted = closed_up(answer), closed_up(PLAIN if name in ASCII_ONLY else LONG)
    if name in FIRST_PACKET:
        assert len(answer.encode()) > 4000
        assert wanted.startswith(given)
    elif name in ONE_READ:
        assert given.startswith(wanted[:2000])
    else:
        assert given == wanted


@pytest.mark.parametrize(
    "name", [*rcon_clients.CLIENTS, *rcon_clients.FOR_SRCDS, *npm_clients("rcon")]
)
async def test_clients_of_others_log_in_and_run_commands(tmp_path: Path, name: str) -> None:
    dialect = "srcds" if name in rcon_clients.FOR_SRCDS else "source"
    # A wrong password costs a second; the clock runs faster here, the clients do not.
    async with harness(tmp_path, {**SETTINGS, "rcon.dialect": dialect}, speed=5.0) as server:
        port = add_long_answers(server)
        long = "plain" if name in ASCII_ONLY else "long"
        lines = ["echo alpha", "status", "help kick", "nonsense", long, "echo omega"]
        both: Any = [
            ensureDeferred(answers_of(name, port, "wrong", "echo a")),
            ensureDeferred(answers_of(name, port, "sekret", *lines)),
        ]
        refused, answers = await gatherResults(both)
    assert refused is None
    first, shown, explained, unknown, whole, last = [answer.strip() for answer in answers]
    assert first == "alpha"
    assert shown.startswith("hostname: Norrath\nversion : ")
    assert "players : 0 humans, 0 bots (20000 max)\n" in shown
    assert explained.startswith("kick NAME")
    assert unknown == "there is no command nonsense; help lists them"
    check_long(name, whole)
    assert name in DEAF or last == "omega"


async def test_debians_rconclt(tmp_path: Path) -> None:
    program = debian_program("rconclt", "rcon")
    async with harness(tmp_path, SETTINGS, speed=5.0) as server:
        port = add_long_answers(server)
        said = await run_beside([program, f"sekret@{HOST}:{port}", "echo", "alpha", "omega"])
        long = await run_beside([program, f"sekret@{HOST}:{port}", "long"])
        refused = await run_beside([program, f"wrong@{HOST}:{port}", "echo", "alpha"])
    assert (said.status, said.output) == (0, "alpha omega\n")
    assert (long.status, closed_up(long.output)) == (0, closed_up(LONG))
    assert refused.status != 0
    assert "Wrong password" in refused.errors
