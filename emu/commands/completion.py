"""What a line that is being typed may go on with: commands, words to choose from, names."""

from __future__ import annotations

from collections.abc import Iterable

from emu.commands.arguments import COMMAND, Argument, ArgumentKind, split_line
from emu.commands.registry import Call, Caller, Command, Registry, Reply
from emu.errors import CommandError

SWITCHES = ("on", "off")
MOST_SHOWN = 200


def completions(registry: Registry, caller: Caller, line: str) -> list[str]:
    """Return the words that may stand where the last word of a line stands, by name.

    A line that ends with a blank, or with an empty quotation, asks for the next word. Commands that
    the caller may not use are left out.
    """
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
                    else _argument_words(registry, command, len(before))
                )
    begun = begun.casefold()
    fitting = {word for word in found if word.casefold().startswith(begun)}
    return sorted(fitting)[:MOST_SHOWN]


def complete_command(registry: Registry) -> Command:
    """Return the command by which consoles outside of this process complete a line."""

    async def run(call: Call) -> Reply:
        found = completions(registry, call.caller, call["line"])
        return Reply(tuple(found), found)

    line = Argument("line", ArgumentKind.TEXT, "what is typed so far", optional=True, default="")
    return Command("complete", "list how a line may go on", run, (line,), is_quiet=True)


def _command_words(commands: Iterable[Command], before: list[str]) -> list[str]:
    """Return the words of commands' names that may stand behind those before."""
    at = len(before)
    names = [command.name.split() for command in commands]
    typed = [word.casefold() for word in before]
    return [name[at] for name in names if len(name) > at and name[:at] == typed]


def _names_commands(command: Command) -> bool:
    """Say whether what follows a command is another one, as behind ``help``."""
    return bool(command.arguments) and command.arguments[0].among == COMMAND


def _argument_words(registry: Registry, command: Command, at: int) -> list[str]:
    if at >= len(command.arguments):
        return []
    argument: Argument = command.arguments[at]
    if argument.choices:
        return list(argument.choices)
    if argument.kind is ArgumentKind.SWITCH:
        return list(SWITCHES)
    listing = registry.known.get(argument.among)
    return list(listing()) if listing is not None else []
