"""The reference of the functions for Lua scripts, generated from their declarations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from emu.world.reference.functions import Known, known_functions, subjects, working

HEAD: Final = """# Functions for Lua scripts

These are all functions of EQ2Emulator's [Lua scripts](../guides/lua.md): their arguments, their
result, and whether this server has them. A function that this server does not have does nothing, is
reported once, and returns 0, false, an empty text or nil. `?` marks an argument that may be
missing, `...` any number of further ones.
"""


def script_functions_page() -> str:
    """Return the page that lists all functions for scripts."""
    functions = list(known_functions().values())
    here = [one for one in functions if one.works]
    later = [one for one in functions if not one.works]
    lines = [
        HEAD,
        f"{len(here)} of {len(functions)} functions are here.",
        "",
        "| subject | here | missing |",
        "|---|---|---|",
        *_counts(),
        "",
        "[Coverage](../guides/lua.md#coverage) says how many scripts are complete with them.",
        "",
        "## Here {#here}",
        "",
        "| function | arguments | result | what it does |",
        "|---|---|---|---|",
        *_rows(here),
        "",
        "## Missing {#missing}",
        "",
        "| function | arguments | result | why it does nothing |",
        "|---|---|---|---|",
        *_rows(later),
    ]
    return "\n".join(lines) + "\n"


def _rows(functions: list[Known]) -> Iterator[str]:
    for one in functions:
        cells = [one.name, str(one.signature), one.returns, one.summary or one.why]
        yield "| " + " | ".join(cells) + " |"


def _counts() -> Iterator[str]:
    for subject in subjects():
        here = len(working().intersection(subject.names))
        yield f"| {subject.title} | {here} | {len(subject.names) - here} |"
