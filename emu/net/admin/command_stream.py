"""TCP or UNIX connections on which commands are run: RCON's and the local console's alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.internet.protocol import Factory

from emu.admin.command_session import CommandSession
from emu.admin.events import CommandGiven, SessionEnded
from emu.admin.status import OpenDoor
from emu.commands import Registry, Reply
from emu.limits.connections import StreamLimits
from emu.measures import Uses
from emu.net.hosts import door
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


class CommandServer(Factory):
    """A port on which commands are run; who derives from it opens it and takes connections."""

    noisy = False
    connections: Any
    """Those that are open."""

    def __init__(
        self, key: str, registry: Registry, reactor: Any, scheduler: Scheduler, tasks: Tasks
    ) -> None:
        """`key` is the setting of the port's address."""
        self._key = key
        self._reactor = reactor
        self._port: Any = None
        self.registry = registry
        self.scheduler = scheduler
        self.tasks = tasks
        self.uses = Uses()

    def doors(self) -> Iterator[OpenDoor]:
        """Yield the port, while it is open."""
        if self._port is not None:
            now = {"connections": len(self.connections)}
            yield door(self._key, self._port, now | self.uses.counted())

    async def stop(self) -> None:
        """Listen no more, and close the connections once their commands are answered."""
        if self._port is not None:
            await maybeDeferred(self._port.stopListening)
            self._port = None
        for connection in list(self.connections):
            connection.close("server is stopping", self.scheduler.now())
        await self.tasks.finished()
