"""Running commands without a server."""

from __future__ import annotations

from collections.abc import Iterable

from emu.commands import Caller, Command, Registry, Reply, Use
from emu.times import Monotonic
from tests.support.coroutines import finish

CONSOLE = Caller("root", 1000, "console")


class CommandBench:
    """A registry and its reported uses."""

    def __init__(self, commands: Iterable[Command] = ()) -> None:
        self.uses: list[Use] = []
        self.registry = Registry(self.uses.append)
        self.registry.extend(commands)
        self.now = Monotonic(100.0)

    def run(self, line: str, *, rank: int = 1000) -> Reply:
        """Run a line whose command waits for nothing."""
        return finish(self.registry.run(Caller("root", rank, "console"), line, self.now))
