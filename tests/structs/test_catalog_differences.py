"""The documented differences from EQ2Emulator's struct files are all there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from emu.structs import FieldDefinition, FieldType, StructCatalog, shipped_catalog
from emu.structs.fields import FORMATS, SIZES
from tests.support.files.recordings import STRUCT_FILES

PAGE = Path(__file__).parents[2] / "docs" / "protocol" / "struct-files.md"
FIRST, LAST = 562, 64753
FILES = ("CommonStructs", "LoginStructs", "WorldStructs", "SpawnStructs", "ItemStructs")

pytestmark = pytest.mark.skipif(
    not STRUCT_FILES.exists(),
    reason="no struct files of EQ2Emulator on this machine (EMU_STRUCT_FILES)",
)


def parts(fields: Sequence[FieldDefinition]) -> Iterator[object]:
    """Yield a number of plain bytes, a kind of text, or the parts of an element."""
    for entry in fields:
        if entry.substruct:
            for _ in range(entry.size):
                yield from parts(entry.fields)
        elif entry.type is FieldType.ARRAY:
            yield tuple(joined(entry.fields))
        elif entry.type is FieldType.CHAR:
            yield entry.size
        elif entry.type is FieldType.EQUIPMENT:
            yield 8 * entry.size
        elif entry.type in FORMATS and not entry.is_short_for_small():
            letter, count = FORMATS[entry.type]
            yield SIZES[letter] * count * entry.size
        else:
            yield from [entry.type] * entry.size


def joined(fields: Sequence[FieldDefinition]) -> list[object]:
    """Return the parts of a layout; plain bytes in a row are one number, whatever their fields."""
    found: list[object] = []
    for one in parts(fields):
        if isinstance(one, int) and found and isinstance(found[-1], int):
            found[-1] += one
        else:
            found.append(one)
    return found


def is_opaque(fields: Sequence[FieldDefinition]) -> bool:
    return any(entry.type is FieldType.ITEM or is_opaque(entry.fields) for entry in fields)


def differing(theirs: StructCatalog) -> set[str]:
    """Return the structs that both have and whose parts differ at some version above 561."""
    ours, found = shipped_catalog(), set()
    for name in set(ours.names()) & set(theirs.names()):
        begin = max(FIRST, ours.versions(name)[0], theirs.versions(name)[0])
        for version in {begin, *ours.versions(name), *theirs.versions(name)}:
            if not begin <= version <= LAST:
                continue
            # Some of ours end at 561.
            if not ours.has(name, version):
                continue
            other = theirs.definition(name, version).fields
            mine = ours.definition(name, version).fields
            if not is_opaque(other) and joined(mine) != joined(other):
                found.add(name)
    return found


@pytest.mark.slow
def test_every_difference_above_561_is_documented_and_each_documented_one_is_there() -> None:
    theirs = StructCatalog()
    for name in FILES:
        theirs.load(STRUCT_FILES / f"{name}.xml.gz")
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    named = re.compile(r"[A-Z]\w+_\w+|CreateCharacter")
    documented = {name for row in rows for name in named.findall(row)}
    found = differing(theirs)
    # Its items are opaque in the file.
    assert documented - found <= {"WS_InspectPlayer"}
    assert found - documented == set()
