"""Finding, allowing and running commands, and the report of their use."""

from __future__ import annotations

import pytest

from emu.commands import (
    Argument,
    ArgumentKind,
    Call,
    Caller,
    Command,
    CommandSet,
    Registry,
    Reply,
    Use,
)
from emu.commands.help import COMMANDS
from emu.errors import STORE_FAULT, CommandError, DuplicateName, StoreAway, StoreError
from tests.support.coroutines import finish

PLAYER = Caller("Aldana", 0, "game", player=object())
MASTER = Caller("Borvik", 100, "game", player=object())
CONSOLE = Caller("console", 200, "console")


def registry() -> tuple[Registry, list[Use]]:
    uses: list[Use] = []
    made = Registry(uses.append)

    async def kick(call: Call) -> str:
        if call["name"] == "nobody":
            raise CommandError("there is no player nobody")
        if call["name"] == "disk":
            raise StoreError("the disk is full")
        return f"{call['name']} was sent away"

    async def say(call: Call) -> None:
        assert call.now == 5.0

    async def sit(_call: Call) -> Reply:
        return Reply(("sat",), {"sat": True})

    made.add(Command("kick", "send a player away", kick, (Argument("name", help="whom"),), 100))
    made.add(Command("say", "speak", say, (Argument("text", ArgumentKind.TEXT),), is_quiet=True))
    made.add(Command("sit", "sit down", sit, outside=False, aliases=("rest",)))
    made.extend(COMMANDS.commands(made))
    return made, uses


@pytest.mark.parametrize(
    ("caller", "line", "ok", "text"),
    [
        (MASTER, "kick Cestra", True, "Cestra was sent away"),
        (MASTER, "/KICK Cestra", True, "Cestra was sent away"),
        (CONSOLE, "kic Cestra", True, "Cestra was sent away"),
        (PLAYER, "kick Cestra", False, "kick needs rank 100; yours is 0"),
        (CONSOLE, "kick nobody", False, "there is no player nobody"),
        (CONSOLE, "kick disk", False, "the disk is full"),
        (CONSOLE, "kick", False, "name is missing; usage: kick NAME"),
        (CONSOLE, "rest", False, "sit can only be used in the game"),
        (PLAYER, "rest", True, "sat"),
        (PLAYER, "say hello", True, ""),
        (PLAYER, "dance", False, "there is no command dance; help lists them"),
        (PLAYER, "", False, "there is no command ; help lists them"),
        (PLAYER, "help kick", False, "there is no command kick"),
    ],
)
def test_lines(caller: Caller, line: str, ok: bool, text: str) -> None:
    made, _ = registry()
    reply = finish(made.run(caller, line, 5.0))
    assert (reply.ok, reply.text) == (ok, text)


def test_every_use_is_reported_except_quiet_successes() -> None:
    made, uses = registry()
    finish(made.run(MASTER, "kick Cestra", 5.0))
    finish(made.run(PLAYER, "kick Cestra", 5.0))
    finish(made.run(PLAYER, "say hello", 5.0))
    finish(made.run(PLAYER, "say", 5.0))
    assert [(use.caller, use.line, use.ok) for use in uses] == [
        ("Borvik", "kick Cestra", True), ("Aldana", "kick Cestra", False), ("Aldana", "say", False),
    ]  # fmt: skip
    assert uses[0].result == "Cestra was sent away"


def test_where_the_database_is_stays_with_the_operators() -> None:
    made, uses = registry()
    where = "postgresql://emu@10.0.0.3/emu: the database is away"

    async def fail(_call: Call) -> None:
        raise StoreAway(where)

    async def taken(_call: Call) -> None:
        raise DuplicateName("there is a guild Wolves already")

    made.add(Command("found", "found a guild", fail, is_quiet=True))
    made.add(Command("name", "name a guild", taken))
    assert finish(made.run(PLAYER, "found", 5.0)) == Reply((STORE_FAULT,), ok=False)
    assert uses[-1].result == where
    assert finish(made.run(MASTER, "found", 5.0)).text == STORE_FAULT
    assert finish(made.run(CONSOLE, "found", 5.0)).text == where
    assert finish(made.run(PLAYER, "name", 5.0)).text == "there is a guild Wolves already"


def test_help_lists_what_the_caller_may() -> None:
    made, _ = registry()
    assert finish(made.run(PLAYER, "help", 5.0)).data == ["complete", "help", "say", "sit"]
    assert finish(made.run(CONSOLE, "help", 5.0)).data == ["complete", "help", "kick", "say"]
    assert finish(made.run(PLAYER, "help", 5.0)).lines[1:] == ("complete, help, say, sit",)
    assert len(finish(made.run(CONSOLE, "help", 5.0)).lines) == 4
    assert finish(made.run(CONSOLE, "help kick", 5.0)).lines == (
        "kick NAME", "send a player away", "  NAME: whom",
    )  # fmt: skip


def test_a_beginning_that_fits_several_finds_none() -> None:
    made, _ = registry()

    async def nothing(_call: Call) -> None: ...

    made.add(Command("kickback", "x", nothing))
    assert made.find("kic") is None
    assert made.find("kick") is not None
    assert made.find("sa") is None


def test_a_name_is_given_once() -> None:
    made, _ = registry()

    async def nothing(_call: Call) -> None: ...

    with pytest.raises(CommandError, match="rest"):
        made.add(Command("lie", "lie down", nothing, aliases=("rest",)))
    assert made.find("lie") is None


def test_a_name_of_two_words() -> None:
    made, uses = registry()

    async def add(call: Call) -> str:
        return f"added {call['name']}"

    secret = Argument("password", ArgumentKind.SECRET)
    made.add(Command("account add", "add one", add, (Argument("name"), secret), 200))
    made.add(Command("account list", "list all", add, (Argument("name"),)))
    assert finish(made.run(CONSOLE, "account  ADD alice s3cret", 5.0)).text == "added alice"
    assert finish(made.run(CONSOLE, "account", 5.0)).text == "account takes one of add, list"
    assert finish(made.run(CONSOLE, "account drop", 5.0)).text == "account takes one of add, list"
    assert not finish(made.run(MASTER, "account add bob s3cret", 5.0)).ok
    assert finish(made.run(CONSOLE, "help account list", 5.0)).lines[0] == "account list NAME"
    assert [use.line for use in uses] == ["account add alice ***", "account add bob ***"]


@pytest.mark.parametrize("line", ["account add x s3cret extra words", "account add x s3cret"])
def test_no_secret_is_reported_however_wrong_the_line(line: str) -> None:
    made, uses = registry()

    async def add(_call: Call) -> None: ...

    secret = Argument("password", ArgumentKind.SECRET)
    made.add(Command("account add", "add one", add, (Argument("name"), secret)))
    finish(made.run(CONSOLE, line, 5.0))
    assert "s3cret" not in uses[0].line + uses[0].result


class Clock:
    """A context of commands."""

    names = ("utc", "local")


CLOCK_COMMANDS = CommandSet[Clock]()


@CLOCK_COMMANDS.command(
    "clock", "show a clock", Argument("which", choices_of=lambda clock: clock.names), rank=10,
    example="clock utc",
)  # fmt: skip
async def _clock(clock: Clock, call: Call) -> str:
    return f"{call['which']} of {len(clock.names)}"


def test_a_declared_command_works_on_its_context() -> None:
    made, _ = registry()
    made.extend(CLOCK_COMMANDS.commands(Clock()))
    assert finish(made.run(MASTER, "clock UTC", 5.0)).text == "utc of 2"
    assert finish(made.run(MASTER, "clock x", 5.0)).text == (
        "which: 'x' is none of utc, local; usage: clock utc|local"
    )
    assert finish(made.run(MASTER, "help clock", 5.0)).lines[-1] == "example: clock utc"
    assert not finish(made.run(PLAYER, "clock utc", 5.0)).ok
