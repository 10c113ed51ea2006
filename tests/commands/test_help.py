from __future__ import annotations

import pytest

from emu.commands import Argument, ArgumentKind, Call, Caller, Command
from emu.commands.help import COMMANDS, completions
from tests.support.admin.commanding import CONSOLE, CommandBench


def bench() -> CommandBench:
    async def nothing(_call: Call) -> None: ...

    made = CommandBench()
    player = Argument("name", among="player")
    switch = Argument("forever", ArgumentKind.SWITCH, optional=True, default=False)
    what = Argument("what", choices=("opcodes", "structs"))
    made.registry.extend(
        [
            Command("kick", "x", nothing, (player,), 100),
            Command("ban", "x", nothing, (player, switch)),
            Command("reload", "x", nothing, (what,)),
            Command("account add", "x", nothing, (Argument("name"),)),
            Command("account ban", "x", nothing, (Argument("name"),)),
            Command("sit", "x", nothing, outside=False),
        ]
    )
    made.registry.extend(COMMANDS.commands(made.registry))
    made.registry.known["player"] = lambda _caller: ["Aldana", "Borvik", "alf"]
    return made


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", ["account", "ban", "complete", "help", "kick", "reload"]),
        ("K", ["kick"]),
        ("acc", ["account"]),
        ("account ", ["add", "ban"]),
        ("account b", ["ban"]),
        ("account add ", []),
        ("kick ", ["Aldana", "Borvik", "alf"]),
        ("kick al", ["Aldana", "alf"]),
        ("kick Aldana ", []),
        ("ban Aldana ", ["off", "on"]),
        ("reload s", ["structs"]),
        ("sit ", []),
        ("dance x", []),
        ("help k", ["kick"]),
        ("help account ", ["add", "ban"]),
        ("help kick ", []),
    ],
)
def test_completions(line: str, found: list[str]) -> None:
    assert completions(bench().registry, CONSOLE, line) == found


def test_what_the_caller_may_not_use_is_left_out() -> None:
    guide = Caller("bert", 10, "rcon")
    assert "kick" not in completions(bench().registry, guide, "")
    assert completions(bench().registry, guide, "kick a") == []


def test_complete_is_a_quiet_command() -> None:
    made = bench()
    assert made.run('complete account ""').data == ["add", "ban"]
    assert made.run('complete kick "Al').lines == ("Aldana", "alf")
    assert made.run("complete").data == ["account", "ban", "complete", "help", "kick", "reload"]
    assert made.uses == []
