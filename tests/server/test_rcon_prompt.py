"""`emu rcon` on a terminal and on a pipe, at a running server."""

from __future__ import annotations

import json
from pathlib import Path

from emu.commands import Call, Command
from tests.support.running.emu_process import emu, emu_on_terminal
from tests.support.running.whole_server import HOST, Harness, find_port, harness

SETTINGS = {"rcon.listen": f"{HOST}:0", "rcon.password": "sekret"}
LONG = "".join(f"line {number} «é»\n" for number in range(1000)) + "the last line"
TAB, ENTER, UP, END = "\t", "\r", "\x1b[A", "\x04"


async def at_length(_call: Call) -> str:
    return LONG


def address(server: Harness) -> str:
    server.service.server.admin.commands.add(Command("long", "answer at length", at_length))
    server.service.server.admin.commands.known["player"] = lambda _caller: ["Aldana", "Borvik"]
    return f"{HOST}:{find_port(server.log.text, 'rcon', 'administrators on TCP')}"


async def test_a_prompt_completes_remembers_and_shows_long_answers(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        at = address(server)
        prompt = f"{at}>"
        keys = [
            ("Password:", f"sekret{ENTER}"),
            (prompt, f"sta{TAB}"), ("tus", ENTER), ("players : 0 humans", ""),
            (prompt, f"kick Ald{TAB}"), ("ana", ENTER), ("there is no player Aldana", ""),
            (prompt, UP + UP), ("status", ENTER), ("players : 0 humans", ""),
            (prompt, f"long{ENTER}"), ("the last line", ""),
            (prompt, f"help ki{TAB}"), ("ck", ENTER), ("kick NAME", ""),
            (prompt, END),
        ]  # fmt: skip
        shown = await emu_on_terminal(tmp_path, "rcon", at, keys=keys)
        assert "sekret" not in shown
        again = [(prompt, UP + UP), ("long", ENTER), ("the last line", f"exit{ENTER}")]
        await emu_on_terminal(tmp_path, "rcon", "--password", "sekret", at, keys=again)


async def test_a_prompt_for_programs_completes_all_the_same(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        at = address(server)
        keys = [
            (f"{at}>", f"ec{TAB}"),
            ("ho", f" one two{ENTER}"),
            ('"lines": ["one two"]', f"exit{ENTER}"),
        ]
        await emu_on_terminal(tmp_path, "rcon", "--json", "--password", "sekret", at, keys=keys)


async def test_a_prompt_outlives_its_connection(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        at = address(server)

        async def vanish(_call: Call) -> None:
            for connection in server.service.server.admin.rcon.connections:
                connection.cut_off("gone")

        server.service.server.admin.commands.add(Command("vanish", "hang up", vanish))
        keys = [
            (f"{at}>", f"vanish{ENTER}"),
            (f"{at}: Connection reset by peer", ""),
            (f"{at}>", f"echo here again{ENTER}"),
            ("\x1b[?2004lhere again", f"exit{ENTER}"),
        ]
        shown = await emu_on_terminal(tmp_path, "rcon", "--password", "sekret", at, keys=keys)
        assert "Traceback" not in shown


async def test_lines_from_a_pipe_are_run_in_order(tmp_path: Path) -> None:
    async with harness(tmp_path, SETTINGS) as server:
        words = ("rcon", "--password", "sekret", address(server))
        lines = "echo one\n\nnonsense\nlong\nexit\necho unheard\n"
        said, complaints, status = await emu(tmp_path, *words, stdin=lines)
        unknown = "there is no command nonsense; help lists them"
        assert (complaints, status) == ("", 0)
        lines = [line.rstrip() for line in said.splitlines()]  # type: ignore[assignment]  # some are filled up with blanks
        assert lines == ["one", unknown, *LONG.splitlines()]
        said, _, _ = await emu(tmp_path, *words, "--json", stdin="echo one\necho two\n")
        assert [json.loads(line)["answer"] for line in said.splitlines()] == ["one", "two"]
