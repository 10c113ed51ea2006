"""The command that shows the graphs of the last hour and day."""

from __future__ import annotations

from typing import Any

from emu.admin.graphs import SPANS, History
from emu.commands import Argument, Call, CommandSet, Cost, Reply
from emu.commands.registry import GUIDE

COMMANDS = CommandSet[History]()


@COMMANDS.command(
    "graphs", "show players, ticks, processor, memory and more over the last hour or day",
    Argument("span", help="what is shown", optional=True, default=SPANS[0].name,
             choices=tuple(one.name for one in SPANS)),
    rank=GUIDE, is_quiet=True, without_database=True, cost=Cost.LISTING, example="graphs day",
)  # fmt: skip
async def _graphs(history: History, call: Call) -> Reply:
    found = history.record(call["span"])
    lines = [
        f"{graph['title']}, {line['label']}: {_shown(line['values'])} {graph['unit']}"
        for graph in found["graphs"] for line in graph["series"]
    ]  # fmt: skip
    return Reply(tuple(lines) or ("nothing is measured yet",), found)


def _shown(values: list[Any]) -> str:
    known = [one for one in values if one is not None]
    return f"{known[-1]:.4g} now, {max(known):.4g} at most"
