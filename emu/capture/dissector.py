"""The Wireshark dissector: puts opcode tables into the Lua text that stands in `wireshark/`.

The Lua parts are one script cut into rooms; they are joined in the order of their names. Must not
know where opcode tables come from nor where the script goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from emu.errors import FileFormatError

NAMES_MARK = "local NAMES = {} -- @names@"
RANGES_MARK = "local RANGES = {} -- @ranges@"

_PARTS = Path(__file__).parent / "wireshark"


def make_dissector(ranges: Iterable[tuple[int, int, Mapping[int, str]]]) -> str:
    """Return the whole Lua script.

    `ranges` are (lowest client version, highest, name of each opcode number); when two cover one
    version, the earlier is used. Raises `FileFormatError` when a name is not a plain word: it would
    become part of a program.
    """
    names: dict[str, int] = {}
    rows = []
    for lowest, highest, table in ranges:
        pairs = []
        for number, name in sorted(table.items()):
            if not (name.isascii() and name.replace("_", "").isalnum()):
                raise FileFormatError(f"{name!r} is not an opcode name")
            pairs.append(f"{int(number)}={names.setdefault(name, len(names) + 1)}")
        rows.append(f'    {{ {int(lowest)}, {int(highest)}, "{" ".join(pairs)}" }},')
    words = "\n".join(f'    "{name}",' for name in names)
    text = "\n".join(part.read_text("utf-8") for part in sorted(_PARTS.glob("*.lua")))
    text = text.replace(NAMES_MARK, f"local NAMES = {{\n{words}\n}}", 1)
    return text.replace(RANGES_MARK, "local RANGES = {\n" + "\n".join(rows) + "\n}", 1)
