"""A page for each message: its number in every client version, and its structs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from emu.opcodes import OpcodeRow, OpcodeTables, VersionRange
from emu.structs import StructCatalog
from tools.site.markdown import code, page, table

Rows = dict[str, list[OpcodeRow]]

INTRODUCTION = [
    "The numbers that come with the program, from `opcodes/`. A database may hold others.",
    "",
]


def rows_by_message(tables: OpcodeTables) -> Rows:
    """Return the rows of each message, by rising version; names in order."""
    found: Rows = defaultdict(list)
    for version_range in tables.ranges:
        for row in tables.rows(version_range):
            found[row.name].append(row)
    return dict(sorted(found.items()))


def message_pages(rows: Rows, catalog: StructCatalog) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the index and of every message's page."""
    carried = structs_by_message(catalog)
    yield "reference/messages.md", _index(rows, carried)
    for name in rows:
        yield f"reference/messages/{name}.md", _message(name, rows[name], carried.get(name, ()))


def structs_by_message(catalog: StructCatalog) -> dict[str, list[str]]:
    """Return which structs travel in a message, or in a command inside OP_ClientCmdMsg."""
    carried: dict[str, dict[str, None]] = defaultdict(dict)
    for definition in catalog:
        message = definition.opcode_type or definition.opcode_name
        carried[message][definition.name] = None
    return {message: list(names) for message, names in carried.items()}


def spans(rows: Iterable[OpcodeRow]) -> list[tuple[str, OpcodeRow]]:
    """Join neighboring rows that say the same: their version ranges, and one of the rows."""
    joined: list[tuple[str, OpcodeRow]] = []
    for row in rows:
        only = row.first == row.last
        versions = str(row.first if only else VersionRange(row.first, row.last))
        if joined and joined[-1][1][3:] == row[3:]:
            earlier, same = joined.pop()
            joined.append((f"{earlier}, {versions}", same))
        else:
            joined.append((versions, row))
    return joined


def struct_link(name: str, folder: str = "../structs") -> str:
    """Return a link to a struct's page, from a page beside the `folder` of those."""
    return f"[{name}]({folder}/{name}.md)"


def cited(source: str | None) -> str:
    """Return where a number is known from, as a link where it is one of our pages."""
    return re.sub(r"docs/(protocol/([\w/]+)\.md(#[\w-]+)?)", r"[\2](../../\1)", source or "")


def _index(rows: Rows, carried: dict[str, list[str]]) -> str:
    lines = []
    for name, ones in rows.items():
        versions = f"{ones[0].first} to {ones[-1].last}"
        structs = ", ".join(struct_link(one, "structs") for one in carried.get(name, ()))
        lines.append((f"[{name}](messages/{name}.md)", versions, structs))
    return page("Messages", INTRODUCTION, table(["message", "versions", "structs"], lines))


def _message(name: str, rows: list[OpcodeRow], structs: Iterable[str]) -> str:
    lines = [
        (versions, row.opcode, cited(row.source), row.note or "") for versions, row in spans(rows)
    ]
    back = ["[All messages](../messages.md)", ""]
    layouts = ["Structs: " + ", ".join(struct_link(one) for one in structs), ""] if structs else []
    about = ["Versions that no line covers do not have it, or its number is not known.", ""]
    numbers = table(["versions", "number", "source", "note"], lines)
    return page(code(name), back, layouts, numbers, about)
