"""A page for each struct: the fields of all its versions side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from emu.cli.structs import field_rows
from emu.structs import StructCatalog, StructDefinition
from tools.site.markdown import code, page, plain_table, table

INTRODUCTION = [
    "The layouts under `data/structs/`. A client gets the highest version not above its own.",
    "",
]
ABSENT = "–"  # noqa: RUF001  # an en dash reads as "none" in a table

WIDE = "---\nhide: [navigation, toc]\n---\n\n"
"""Gives a page the whole width: some structs have layouts for a dozen versions."""

Fields = dict[str, str]
"""What to show of each field of one layout, by its path and in its order."""


def struct_pages(catalog: StructCatalog, messages: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and text of the index and of every struct's page."""
    yield "reference/structs.md", _index(catalog, messages)
    for name in catalog.names():
        definitions = [one for one in catalog if one.name == name]
        yield f"reference/structs/{name}.md", _struct(catalog, definitions, messages)


def fields_of(definition: StructDefinition) -> Fields:
    """Return each field with its offset when all is empty, its type and when it is there."""
    shown: Fields = {}
    for row in field_rows(definition.fields):
        kind = f"{row['type']}[{row['size']}]" if row["size"] != 1 else str(row["type"])
        where = f"{row['offset']}: " if row["offset"] is not None else ""
        remarks = f" ({row['remarks']})" if row["remarks"] else ""
        shown[str(row["field"])] = f"{where}{kind}{remarks}"
    return shown


def merged(orders: Sequence[Sequence[str]]) -> list[str]:
    """Return all names of some lists, each behind the one it follows where it came up first."""
    names: list[str] = []
    for order in orders:
        at = 0
        for name in order:
            if name in names:
                at = names.index(name) + 1
            else:
                names.insert(at, name)
                at += 1
    return names


def _struct(
    catalog: StructCatalog, definitions: Sequence[StructDefinition], messages: frozenset[str]
) -> str:
    first = definitions[0]
    layouts = {one.client_version: fields_of(one) for one in definitions}
    columns = ["field", *(f"from {version}" for version in layouts)]
    lines = [
        (name, *(fields.get(name, ABSENT) for fields in layouts.values()))
        for name in merged([list(fields) for fields in layouts.values()])
    ]
    facts = [
        f"Message: {message_link(one, messages)}"
        for one in (first.opcode_name, first.opcode_type)
        if one
    ]
    lengths = [
        (catalog.layout(one.name, one.client_version).versions, sum_of_empty(catalog, one))
        for one in definitions
    ]
    return WIDE + page(
        code(first.name),
        ["[All structs](../structs.md)", ""],
        [line for fact in facts for line in (fact, "")],
        table(["versions", "bytes when all is empty"], lengths),
        ["Before each type stands its offset while all before it is empty; `+` once it moves.", ""],
        plain_table(columns, lines),
    )


def sum_of_empty(catalog: StructCatalog, definition: StructDefinition) -> int:
    """Return the length of a struct with nothing in it."""
    return len(catalog.layout(definition.name, definition.client_version).encode({}))


def message_link(name: str, messages: frozenset[str], folder: str = "../messages") -> str:
    """Return a link to a message's page, or its bare name where no table has it."""
    return f"[{name}]({folder}/{name}.md)" if name in messages else code(name)


def _index(catalog: StructCatalog, messages: frozenset[str]) -> str:
    lines = []
    for name in catalog.names():
        ones = [one for one in catalog if one.name == name]
        message = ones[0].opcode_type or ones[0].opcode_name
        versions = ", ".join(str(one.client_version) for one in ones)
        link = message_link(message, messages, "messages") if message else ""
        lines.append((f"[{name}](structs/{name}.md)", versions, link))
    return page("Structs", INTRODUCTION, table(["struct", "layouts from", "message"], lines))
