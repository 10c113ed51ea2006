"""The commands about commands: ``help`` and ``complete``, and the completion behind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.commands.registry import (
    COMMAND,
    RANKS,
    Argument,
    ArgumentKind,
    Call,
    Caller,
    Command,
    CommandSet,
    Cost,
    Registry,
    Reply,
    split_line,
)
from emu.errors import CommandError

COMMANDS = CommandSet[Registry]()

WHICH = Argument(
    "command", ArgumentKind.TEXT, "the one to explain", optional=True, default="", among=COMMAND
)
HEAD: Final = "Your commands; help COMMAND explains one:"
WIDTH: Final = 100
"""Letters of a line of names."""
LINE = Argument("line", ArgumentKind.TEXT, "the line so far", optional=True, default="")


@COMMANDS.command(
    "help", "list the commands, or explain one", WHICH, is_quiet=True, cost=Cost.LISTING,
    example="help account ban",
)  # fmt: skip
async def _help(registry: Registry, call: Call) -> Reply:
    allowed = registry.allowed(call.caller)
    if not call["command"]:
        names = [command.name for command in allowed]
        # The client shows every line in its chat window, and there are more commands than lines.
        if call.caller.player is not None:
            return Reply((HEAD, *_in_lines(names)), names)
        width = max((len(command.usage) for command in allowed), default=0)
        return Reply(
            tuple(f"{command.usage:<{width}}  {command.help}" for command in allowed),
            names,
        )
    command, _ = registry.resolve(call["command"])
    # A command above the caller's rank gets the answer of an unknown one.
    if command not in allowed:
        raise CommandError(f"there is no command {call['command']}")
    lines = [command.usage, command.help]
    lines += [f"  {entry.usage}: {entry.help}" for entry in command.arguments if entry.help]
    lines += [f"example: {command.example}"] if command.example else []
    return Reply(tuple(lines), {"name": command.name, "usage": command.usage})


def _in_lines(names: Iterable[str]) -> list[str]:
    """Return names with commas between them, as many on each line as have a place."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(name) < WIDTH:
            lines[-1] += f", {name}"
        else:
            lines.append(name)
    return lines


@COMMANDS.command(
    "complete", "list how a line can continue", LINE, is_quiet=True, cost=Cost.LISTING,
    example="complete account b",
)  # fmt: skip
async def _complete(registry: Registry, call: Call) -> Reply:
    found = completions(registry, call.caller, call["line"])
    return Reply(tuple(found), found)


SWITCHES = ("on", "off")
MOST_SHOWN = 200


def completions(registry: Registry, caller: Caller, line: str) -> list[str]:
    """Return the possible completions of the last word of a line, sorted.

    A line that ends with a blank, or with an empty quotation, asks for the next word. Commands that
    the caller may not use are left out.
    """
    # Behind a blank the next word has not begun, so every word so far is complete.
    words = [word for word, _ in split_line(line)]
    begun = "" if not words or line[-1:].isspace() else words.pop()
    allowed = registry.allowed(caller)
    found = _command_words(allowed, words)
    if words:
        try:
            command, rest = registry.resolve(" ".join(words))
        except CommandError:
            pass
        else:
            if command in allowed:
                before = [word for word, _ in split_line(rest)]
                found += (
                    _command_words(allowed, before)
                    if _names_commands(command)
                    else _argument_words(registry, caller, command, len(before))
                )
    begun = begun.casefold()
    # A set, because several commands share their first word.
    fitting = {word for word in found if word.casefold().startswith(begun)}
    return sorted(fitting)[:MOST_SHOWN]


def _command_words(commands: Iterable[Command], before: list[str]) -> list[str]:
    """Return the words of command names that can follow the words in `before`."""
    at = len(before)
    names = [command.name.split() for command in commands]
    typed = [word.casefold() for word in before]
    return [name[at] for name in names if len(name) > at and name[:at] == typed]


def _names_commands(command: Command) -> bool:
    """Return whether another command follows this one, as after ``help``."""
    return bool(command.arguments) and command.arguments[0].among == COMMAND


def _argument_words(registry: Registry, caller: Caller, command: Command, at: int) -> list[str]:
    if at >= len(command.arguments):
        return []
    argument: Argument = command.arguments[at]
    if argument.choices:
        return list(argument.choices)
    if argument.kind is ArgumentKind.SWITCH:
        return list(SWITCHES)
    if argument.kind is ArgumentKind.RANK:
        return list(RANKS)
    listing = registry.known.get(argument.among)
    return list(listing(caller)) if listing is not None else []
