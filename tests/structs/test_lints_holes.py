"""Versions that enter a world without a layout of what they need there are found."""

from __future__ import annotations

import re

from emu.opcodes import shipped_tables
from emu.opcodes.checks import ENTERING
from emu.structs import StructCatalog, shipped_catalog
from emu.structs.definitions import StructDefinition
from emu.structs.lints import NEEDED_TO_ENTER, holes


def test_a_version_before_the_first_layout_is_a_hole() -> None:
    catalog = StructCatalog([StructDefinition("WS_ZoneInfo", 562, ())])
    spans = [(540, 546), (560, 600), (1096, 1096)]
    assert [line.partition(", which")[0] for line in holes(catalog, spans)] == [
        "struct WS_ZoneInfo: no layout for client versions 540-546",
        "struct WS_ZoneInfo: no layout for client versions 560-561",
    ]


def test_files_without_a_worlds_structs_have_none() -> None:
    assert list(holes(StructCatalog(), [(540, 546)])) == []


def test_the_shipped_structs_have_no_hole_from_546_on() -> None:
    """Versions below have numbers, but nobody has written down all of their layouts."""
    spans = [
        (first, last)
        for first, last, table in shipped_tables().spans()
        if table.get(ENTERING) is not None
    ]
    assert {name for name in NEEDED_TO_ENTER if not shipped_catalog().versions(name)} == set()
    found = list(holes(shipped_catalog(), spans))
    assert found
    last = [int(re.search(r"client versions \d+-(\d+),", line)[1]) for line in found]
    assert max(last) < 546
