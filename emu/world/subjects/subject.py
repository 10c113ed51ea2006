"""The base of subjects: messages, commands, functions for scripts and measures of one component.

A subject is listed in `emu.world.subjects.every` and made in `emu.world.assembly`. Nothing below
knows it: it subscribes to events, or another component gets one of its methods as a port.
"""

from __future__ import annotations

from typing import Any, ClassVar

from emu.commands import CommandSet
from emu.metrics import MetricRegistry
from emu.scripts.signatures import FunctionTable
from emu.world.messages import WorldMessages


class Subject:
    """A component whose commands and functions are bound to itself."""

    COMMANDS: ClassVar[CommandSet[Any]] = CommandSet()
    """Its commands; each gets the subject before the call."""
    FUNCTIONS: ClassVar[FunctionTable] = FunctionTable()
    """Its functions for scripts; each gets the subject before the arguments."""

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of clients that it handles."""

    def measure(self, measures: MetricRegistry) -> None:
        """Add its measures."""
