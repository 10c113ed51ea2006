"""Struct files as short texts, for tests of the reader and of what layouts do."""

from __future__ import annotations

from emu.structs import StructCatalog, StructLayout
from emu.structs.reader import read_text


def file_of(*structs: str) -> bytes:
    """Return a struct file with these Struct elements."""
    return ("<EQ2Emulator>\n" + "\n".join(structs) + "\n</EQ2Emulator>\n").encode()


def struct_of(fields: str, name: str = "S", version: int = 1, more: str = "") -> str:
    """Return a Struct element. `fields` is Data elements, or ``name Type`` pairs with commas."""
    if "<" not in fields:
        pairs = [pair.split() for pair in fields.split(",") if pair.strip()]
        fields = "\n".join(
            f'<Data ElementName="{pair[0]}" Type="{pair[1]}"'
            + (f' Size="{pair[2]}"' if len(pair) > 2 else "")
            + "/>"
            for pair in pairs
        )
    return f'<Struct Name="{name}" ClientVersion="{version}" {more}>\n{fields}\n</Struct>'


def catalog_of(*structs: str) -> StructCatalog:
    """Return a catalog of these Struct elements."""
    return StructCatalog(read_text(file_of(*structs), "Test.xml"))


def layout_of(fields: str, *, before: str = "", create_color: bool = False) -> StructLayout:
    """Return the layout of one struct ``S``; `before` is Struct elements it may include."""
    catalog = catalog_of(before, struct_of(fields))
    return catalog.layout("S", 1, create_color=create_color)


def array(name: str, count: str, inner: str, more: str = "") -> str:
    """Return an array's Data element."""
    return (
        f'<Data ElementName="{name}" Type="Array" ArraySizeVariable="{count}" {more}>{inner}</Data>'
    )


def data(name: str, kind: str, more: str = "") -> str:
    """Return one Data element."""
    return f'<Data ElementName="{name}" Type="{kind}" {more}/>'
