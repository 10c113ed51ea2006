"""Commands of players and operators: one registry for the game, the console, RCON and the web page.

To add a command, write one function and declare it. The declaration holds the command's name, its
help, its arguments, its rank and its cost; the registry does the rest::

    COMMANDS = CommandSet[AccountCommandContext]()

    @COMMANDS.command(
        "account note", "show the note of an account", Argument("name", help="the account"),
        rank=GUIDE, example="account note alice",
    )
    async def _note(accounts: AccountCommandContext, call: Call) -> str:
        account = await found(accounts, call["name"])
        return f"{account.name}: {account.note}"

The function takes its context and a `Call`. It returns a `Reply`, a text, or None, and raises
`CommandError` with a message for the caller. `COMMANDS.commands(context)` binds the declarations
to a context, for `Registry.extend`. The registry finds the command by its name, checks the rank,
converts the words of the line to values, and reports the use to the log.

Declarations are in `emu.world.commands`, `emu.admin.commands` and `emu.commands.help`.
"""

from __future__ import annotations

from emu.commands.registry import (
    Argument,
    ArgumentKind,
    Call,
    Caller,
    Command,
    CommandRefused,
    CommandSet,
    Cost,
    Registry,
    Reply,
    Use,
)

__all__ = [
    "Argument",
    "ArgumentKind",
    "Call",
    "Caller",
    "Command",
    "CommandRefused",
    "CommandSet",
    "Cost",
    "Registry",
    "Reply",
    "Use",
]
