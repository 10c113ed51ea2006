"""Commands that tools for Source servers try: echo and cvarlist."""

from __future__ import annotations

from emu.commands import Argument, ArgumentKind, Call, Command, Registry, Reply
from emu.commands.ranks import GUIDE

RULE = "-" * 14


def commands(registry: Registry) -> list[Command]:
    """Return the commands of this room."""

    async def echo(call: Call) -> Reply:
        return Reply((call["text"],), call["text"])

    async def cvarlist(call: Call) -> Reply:
        found = [
            command
            for command in registry.allowed(call.caller)
            if command.name.startswith(call["beginning"].lower())
        ]
        lines = [
            f"{command.name:<24} : cmd      :              : {command.help}" for command in found
        ]
        return Reply(
            ("cvar list", RULE, *lines, RULE, f"{len(found):>3} total convars/concommands"),
            [command.name for command in found],
        )

    text = Argument("text", ArgumentKind.TEXT, optional=True, default="")
    beginning = Argument("beginning", help="how names begin", optional=True, default="")
    return [
        Command("echo", "answer with a text", echo, (text,), GUIDE, is_quiet=True),
        Command("cvarlist", "list the commands as Source servers do", cvarlist, (beginning,),
                GUIDE, is_quiet=True),
    ]  # fmt: skip
