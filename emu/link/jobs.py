"""What a link's messages ask to be done: one job after another, in the order they came.

Knows nothing of what a job does. Who starts coroutines (`Spawn`) is the shell's business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from emu.errors import EmuError

Job = Callable[[], Awaitable[object]]
Spawn = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a coroutine and reports, itself, what it may raise."""


class JobQueue:
    """Runs jobs in order, one at a time, and never makes its caller wait."""

    __slots__ = ("_failed", "_jobs", "_limit", "_running", "_spawn")

    def __init__(self, spawn: Spawn, limit: int, failed: Callable[[EmuError], None]) -> None:
        self._spawn = spawn
        self._limit = limit
        self._failed = failed
        self._jobs: deque[Job] = deque()
        self._running = False

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job) -> bool:
        """Add a job; False when too many wait already."""
        if len(self._jobs) >= self._limit:
            return False
        self._jobs.append(job)
        if not self._running:
            self._running = True
            self._spawn(self._run())
        return True

    async def _run(self) -> None:
        try:
            while self._jobs:
                try:
                    await self._jobs.popleft()()
                except EmuError as error:
                    self._failed(error)
        finally:
            self._running = False
