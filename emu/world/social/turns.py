"""`Turns`: lets one command of a player at a time change what the store has."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from emu.errors import CommandError
from emu.mailbox import PendingAnswer

MOST_WAITING: Final = 20
"""Commands of one player that wait for an earlier one."""


class Turns:
    """The turns of the players of one process, by character."""

    __slots__ = ("_answer", "_waiting")

    def __init__(self, answer: Callable[[], PendingAnswer]) -> None:
        """`answer` makes an object that a coroutine can wait for."""
        self._answer = answer
        self._waiting: dict[int, deque[PendingAnswer]] = {}
        """Commands that wait for an earlier one, by the character that called them."""

    @asynccontextmanager
    async def turn(self, char_id: int) -> AsyncIterator[None]:
        """Wait until the earlier turns of a character are over. Raises `CommandError`."""
        waiting = self._waiting.get(char_id)
        if waiting is None:
            waiting = self._waiting[char_id] = deque()
        elif len(waiting) < MOST_WAITING:
            mine = self._answer()
            waiting.append(mine)
            await mine
        else:
            raise CommandError("wait a moment")
        try:
            yield
        finally:
            if waiting:
                waiting.popleft().callback(None)
            else:
                del self._waiting[char_id]
