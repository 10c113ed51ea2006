"""One TCP or UNIX connection on which commands are run: RCON and the local console alike."""

from __future__ import annotations

from typing import Any

from emu.admin.command_session import CommandSession
from emu.admin.events import CommandGiven, SessionEnded
from emu.commands import Registry, Reply
from emu.limits.connections import StreamLimits
from emu.measures import Uses
from emu.net.scheduler import Scheduler
from emu.net.stream import Stream
from emu.net.tasks import Tasks
from emu.times import Monotonic


class CommandStream(Stream):
    """Runs what its session asks for.

    `uses` is where it counts the commands and why it ended.
    """

    core: CommandSession[Any]

    def __init__(
        self,
        registry: Registry,
        tasks: Tasks,
        scheduler: Scheduler,
        limits: StreamLimits,
        uses: Uses,
    ) -> None:
        super().__init__(scheduler, limits)
        self._uses = uses
        self._registry = registry
        self._tasks = tasks

    @property
    def wants_data(self) -> bool:
        """Whether the session has room for more commands."""
        return self.core.wants_data

    def take_event(self, event: object, now: Monotonic) -> None:  # noqa: ARG002
        """Run a command, or count why the session is over."""
        if isinstance(event, CommandGiven):
            # A turn later: thousands of commands in one segment must not hold everybody up.
            self._scheduler.soon(lambda: self._tasks.spawn(self._run(event)))
        elif isinstance(event, SessionEnded):
            self._uses.ended[event.reason] += 1

    async def _run(self, given: CommandGiven) -> None:
        reply = Reply(("the command failed; the server's log says how",), ok=False)
        result = "failed"
        try:
            reply = await self._registry.run(given.caller, given.line, self._scheduler.now())
            result = "done" if reply.ok else "refused"
        finally:
            self._uses.requests[result] += 1
            self.core.answered(reply, self._scheduler.now())
            self.serve()
