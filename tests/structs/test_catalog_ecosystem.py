"""EQ2Emulator's own struct files, where they are at hand: all load and make the way and back."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest

from emu.errors import MalformedMessage
from emu.structs import FieldDefinition, FieldType, StructCatalog, StructDefinition
from emu.structs.definitions import STRINGS
from tests.support.files.recordings import STRUCT_FILES
from tests.support.files.struct_values import LETTERS, assert_within

FILES = ("CommonStructs", "LoginStructs", "WorldStructs", "SpawnStructs", "ItemStructs")

pytestmark = pytest.mark.skipif(
    not STRUCT_FILES.exists(),
    reason="no struct files of EQ2Emulator on this machine (EMU_STRUCT_FILES)",
)


@pytest.fixture(scope="module")
def catalog() -> StructCatalog:
    made = StructCatalog()
    for name in FILES:
        assert made.load(STRUCT_FILES / f"{name}.xml.gz") > 0
    return made


class Draw:
    """Values from a seeded generator: quick enough for two thousand structs.

    A field that is not always there and that others ask for stays unset: as in EQ2Emulator, a value
    given for it counts as set even where it is not on the wire, and then no reader can know.
    """

    def __init__(self, definition: StructDefinition) -> None:
        self.random = random.Random(hash_of(definition.name, definition.client_version))
        self.asked_for = " ".join(asked_for(definition.fields))

    def block(self, fields: Sequence[FieldDefinition]) -> dict[str, Any]:
        known = {}
        for entry in fields:
            key, number = entry.name, 1
            while key in known:
                number += 1
                key = f"{entry.name}_{number}"
            known[key] = entry
        counters = {entry.count_field for entry in fields if entry.type is FieldType.ARRAY}
        made = {key: self.field(entry) for key, entry in known.items() if key not in counters}
        for counter in counters & known.keys():
            arrays = [key for key, entry in known.items() if entry.count_field == counter]
            length = self.random.randrange(3)
            fitting = all(
                known[key].conditions == known[counter].conditions and known[key].max_count != 1
                for key in arrays
            )
            made[counter] = length if fitting else 0
            for key in arrays:
                made[key] = [self.block(known[key].fields) for _ in range(made[counter])]
        return {key: value for key, value in made.items() if value is not None}

    def field(self, entry: FieldDefinition) -> Any:
        if entry.type is FieldType.ARRAY:
            return None
        if entry.conditions and entry.name in self.asked_for:
            zero = "" if entry.type in STRINGS else 0
            return zero if entry.size == 1 else [zero] * entry.size
        if entry.type2 is not None:
            return self.random.randrange(100)  # fits whichever type is chosen
        values = [self.one(entry) for _ in range(entry.size)]
        if entry.type is FieldType.CHAR:
            return "".join(values).rstrip("\0")
        return values[0] if entry.size == 1 else values

    def one(self, entry: FieldDefinition) -> Any:
        byte = self.random.randrange
        kind = entry.type
        if kind is None:
            return self.block(entry.fields)
        special = {
            FieldType.CHAR: lambda: chr(byte(256)),
            FieldType.COLOR: lambda: [byte(256), byte(256), byte(256)],
            FieldType.EQUIPMENT: lambda: {
                "type": byte(65536), "color": [byte(256)] * 3, "highlight": [byte(256)] * 3,
            },
            FieldType.ITEM: lambda: "item" * byte(3),
            FieldType.FLOAT: lambda: float(byte(1000)) / 8,
            FieldType.DOUBLE: lambda: float(byte(1000)) / 8,
        }  # fmt: skip
        if kind in special:
            return special[kind]()
        if kind in STRINGS:
            return "".join(chr(byte(256)) for _ in range(byte(5)))
        letter = LETTERS[kind]
        raw = self.random.randbytes(struct.calcsize("<" + letter))
        return struct.unpack("<" + letter, raw)[0] if byte(2) else byte(3)


def asked_for(fields: Sequence[FieldDefinition]) -> Iterator[str]:
    for entry in fields:
        yield from entry.conditions.variable_set
        yield from entry.conditions.variable_not_set
        yield from asked_for(entry.fields)


def is_written_only(fields: Sequence[FieldDefinition], *, last: bool = True) -> bool:
    """Tell whether an item stands before the end; only its writer knows where it ends."""
    return any(
        (entry.type is FieldType.ITEM and not (last and at == len(fields) - 1))
        or is_written_only(entry.fields, last=False)
        for at, entry in enumerate(fields)
    )


@pytest.mark.slow
def test_every_struct_of_every_file_loads(catalog: StructCatalog) -> None:
    assert len(catalog) > 1_500
    for definition in catalog:
        layout = catalog.layout(definition.name, definition.client_version)
        assert layout.client_version == definition.client_version
    assert all(".xml.gz, line " in note for note in catalog.notes)


@pytest.mark.slow
def test_every_struct_makes_the_way_and_back(catalog: StructCatalog) -> None:
    written_only = set()
    for definition in catalog:
        layout = catalog.layout(definition.name, definition.client_version)
        values = Draw(definition).block(definition.fields)
        data = layout.encode(values)
        if is_written_only(definition.fields):
            written_only.add(definition.name)
            continue
        decoded = layout.decode(data)
        assert_within(decoded, values)
        assert layout.encode(decoded, strict=True) == data, (
            definition.name,
            definition.client_version,
        )
    assert len(written_only) < 20


@pytest.mark.slow
def test_no_bytes_make_a_layout_raise_anything_else(catalog: StructCatalog) -> None:
    source = random.Random(546)
    for definition in catalog:
        layout = catalog.layout(definition.name, definition.client_version)
        for size in (0, 7, 60):
            garbage = source.randbytes(size)
            for decode in (layout.decode, layout.decode_short):
                with suppress(MalformedMessage):
                    decode(garbage)


def hash_of(name: str, version: int) -> int:
    return int.from_bytes(name.encode(), "little") ^ version
