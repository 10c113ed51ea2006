"""One command of a player at a time."""

from __future__ import annotations

import pytest
from twisted.internet.defer import Deferred

from emu.errors import CommandError
from emu.world.social.turns import MOST_WAITING, Turns
from tests.support.coroutines import finish


def test_commands_of_one_character_wait_for_each_other() -> None:
    turns, done, ends = Turns(Deferred), list[str](), list[Deferred[None]]()

    async def command(char_id: int, name: str) -> None:
        async with turns.turn(char_id):
            end: Deferred[None] = Deferred()
            ends.append(end)
            done.append(name)
            await end

    for char_id, name in ((5, "first"), (5, "second"), (6, "of another")):
        Deferred.fromCoroutine(command(char_id, name))
    assert done == ["first", "of another"]
    ends[0].callback(None)
    assert done == ["first", "of another", "second"]
    for end in ends[1:]:
        end.callback(None)
    Deferred.fromCoroutine(command(5, "after all"))
    assert done[-1] == "after all"


def test_too_many_waiting_commands_are_refused() -> None:
    turns, never = Turns(Deferred), Deferred[None]()

    async def command() -> None:
        async with turns.turn(5):
            await never

    for _ in range(MOST_WAITING + 1):
        Deferred.fromCoroutine(command())
    with pytest.raises(CommandError):
        finish(command())


def test_a_turn_ends_with_an_error_too() -> None:
    turns = Turns(Deferred)

    async def command(*, fails: bool) -> str:
        async with turns.turn(5):
            if fails:
                raise CommandError("no")
            return "done"

    with pytest.raises(CommandError):
        finish(command(fails=True))
    assert finish(command(fails=False)) == "done"
