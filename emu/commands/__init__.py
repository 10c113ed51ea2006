"""Commands for those who run or play a server: one registry for game, console, RCON and web.

A command says its name, what it is for, its arguments and the rank it needs; who may call it, how
words become values, and that every use is told of, is the registry's.
"""

from __future__ import annotations

from emu.commands.arguments import Argument, ArgumentKind
from emu.commands.registry import Call, Caller, Command, CommandRefused, Cost, Registry, Reply, Use

__all__ = [
    "Argument",
    "ArgumentKind",
    "Call",
    "Caller",
    "Command",
    "CommandRefused",
    "Cost",
    "Registry",
    "Reply",
    "Use",
]
