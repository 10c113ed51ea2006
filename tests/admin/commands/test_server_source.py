from __future__ import annotations

from emu.admin.commands import server
from tests.support.admin.commanding import CommandBench


def bench() -> CommandBench:
    made = CommandBench()
    made.registry.extend(server.SOURCE_COMMANDS.commands(made.registry))
    return made


def test_echo_answers_with_the_text() -> None:
    assert bench().run("echo  two  words ").text == "two  words"
    assert bench().run("echo").text == ""
    assert not bench().run("echo x", rank=0).ok


def test_cvarlist_is_in_the_shape_of_source_servers() -> None:
    lines = bench().run("cvarlist").lines
    assert lines[:2] == ("cvar list", "--------------")
    assert lines[-1] == "  2 total convars/concommands"
    assert [line.split(" : ")[0].strip() for line in lines[2:-2]] == ["cvarlist", "echo"]
    assert bench().run("cvarlist ec").data == ["echo"]
