"""The command that programs beside the server watch it with: snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emu.commands import Call, Command, Reply
from emu.commands.ranks import OWNER

SNAPSHOT = "snapshot"


def commands(snapshot: Callable[[], dict[str, Any]]) -> list[Command]:
    """Return the commands of this room; `snapshot` makes what programs are given."""

    async def run(_call: Call) -> Reply:
        return Reply(("for programs; `emu status` and `emu top` show it",), snapshot())

    return [Command(SNAPSHOT, "tell programs all about the server", run, rank=OWNER, is_quiet=True)]
