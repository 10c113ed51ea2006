"""Commands of operators say what they change, and so do their uses."""

from __future__ import annotations

from emu.audit import Change
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import GUIDE
from tests.support.admin.commanding import CommandBench
from tools.site.game_commands import subjects

READING = {
    "account list", "account show", "account trial", "audit", "changed", "character list",
    "character show", "content find", "content show", "content source", "cvarlist", "echo",
    "edit show", "graphs", "grid", "guild show", "itemsearch", "log show",
    "loot list", "los", "luadebug", "mailbox", "nodes", "note list", "path", "petition list",
    "petition show", "player show", "players", "processes", "quest list", "quest show", "save",
    "script errors", "snapshot", "status", "zonemap outline", "zonemap place", "zonemap show",
    "zonemap spawn", "zones",
}  # fmt: skip
"""Commands with a rank that change nothing that the audit should have."""
OWN_PLACE = {"goto", "hide", "move", "zone"}
"""Commands that change only the place or the visibility of the operator's own character."""


def test_every_command_with_a_rank_says_what_it_changes() -> None:
    every = [command for commands in subjects().values() for command in commands]
    silent = {command.name for command in every if command.rank and not command.changes}
    assert silent <= READING | OWN_PLACE, silent - READING - OWN_PLACE
    assert not {command.name for command in every if command.changes and not command.rank}


COMMANDS = CommandSet[None]()


@COMMANDS.command(
    "paint", "paint a thing", Argument("name", help="which"),
    Argument("reason", ArgumentKind.TEXT, "why", optional=True, default=""),
    rank=GUIDE, changes="thing {name}",
)  # fmt: skip
async def _paint(_context: None, _call: Call) -> Reply:
    return Reply(("done",), change=Change("red", "blue"))


def bench() -> CommandBench:
    made = CommandBench()
    made.registry.extend(COMMANDS.commands(None))
    return made


def test_a_use_names_the_thing_its_values_and_the_reason() -> None:
    made = bench()
    made.run("paint gate it is old")
    (use,) = made.uses
    assert (use.command, use.subject, use.change, use.reason) == (
        "paint", "thing gate", Change("red", "blue"), "it is old",
    )  # fmt: skip


def test_an_attempt_with_wrong_arguments_names_the_kind() -> None:
    made = bench()
    made.run("paint")
    assert [(use.ok, use.subject) for use in made.uses] == [(False, "thing")]


def test_players_cannot_fill_the_audit() -> None:
    made = bench()
    made.run("paint gate", rank=0)
    assert [(use.ok, use.subject) for use in made.uses] == [(False, "")]
