"""Subjects of a content file as linked records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emu.content import links
from emu.content.file import ContentFile
from emu.content.importing import import_content
from emu.content.links import record_of, search
from emu.content.sources import dump_parts
from tests.support.content.dumps import meadow, write_dumps
from tests.support.content.subjects import knowledge, others, trade


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContentFile]:
    folder: Path = tmp_path_factory.mktemp("links")
    tables = meadow() | knowledge() | others()
    tables |= {name: rows for name, rows in trade().items() if name not in tables}
    target = folder / "content.sqlite"
    import_content(dump_parts([write_dumps(folder / "dumps", tables)]), target)
    with ContentFile(target) as content:
        yield content


def cells(record: dict[str, Any], table: str) -> dict[str, dict[str, Any]]:
    (rows,) = (one["rows"] for one in record["sections"] if one["table"] == table)
    return {cell["column"]: cell for cell in rows[0]}


def shown(file: ContentFile, subject: str, number: int) -> dict[str, Any]:
    found = record_of(file, subject, number)
    assert found is not None
    return found


def test_names_and_numbers_are_found(file: ContentFile) -> None:
    assert search(file, "guard") == [
        {"subject": "spawn", "number": 90001, "name": "a guard"},
        {"subject": "faction", "number": 11, "name": "Guards"},
    ]
    assert search(file, "90002") == [{"subject": "spawn", "number": 90002, "name": "a captain"}]
    assert search(file, "9", "zone")[0] == {"subject": "zone", "number": 9, "name": "meadow"}
    assert search(file, "90002", "zone") == []


@pytest.mark.parametrize("word", ["%", "9" * 30, "\u0660", "'"])  # a digit of another script
def test_odd_words_find_nothing(file: ContentFile, word: str) -> None:
    assert search(file, word) == []


def test_a_search_in_all_subjects_is_bounded(
    file: ContentFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MOST_FOUND", 1)
    assert len([one for one in search(file, "a") if one["subject"] == "spawn"]) == 1
    assert len(search(file, "a", "spawn")) == 4


def test_a_spawn_has_its_rows_scripts_and_places(file: ContentFile) -> None:
    found = shown(file, "spawn", 90002)
    assert (found["name"], found["spawns"]) == ("a captain", [])
    assert ("entry", 22, "SpawnScripts/meadow/captain.lua") in [
        (one["kind"], one["number"], one["script"]) for one in found["scripts"]
    ]
    assert [(one["zone"], one["placement"]) for one in found["places"]] == [
        ("meadow", 11), ("meadow", 14),
    ]  # fmt: skip
    assert found["places"][0]["weight"] == 14


def test_a_column_that_names_a_subject_has_its_link(file: ContentFile) -> None:
    goal = cells(shown(file, "transporter", 3), "transporters")["to_zone"]
    assert goal == {
        "column": "to_zone", "text": "9", "name": "meadow", "subject": "zone", "number": 9,
    }  # fmt: skip


def test_a_merchant_has_its_wares(file: ContentFile) -> None:
    record = shown(file, "merchant", 7)
    (wares,) = (one["rows"] for one in record["sections"] if one["table"] == "merchant_items")
    items = {cell["number"] for row in wares for cell in row if cell["column"] == "item_id"}
    assert 501 in items


def test_columns_that_say_nothing_are_left_out(file: ContentFile) -> None:
    row = cells(shown(file, "spawn", 90001), "spawns")
    assert "attackable" not in row
    assert row["size"]["text"] == "32"


def test_a_zone_has_the_spawns_that_are_placed_in_it(file: ContentFile) -> None:
    assert shown(file, "zone", 9)["spawns"] == [
        {"name": "a captain", "number": 90002, "kind": "npcs"},
        {"name": "a guard", "number": 90001, "kind": "npcs"},
        {"name": "a sign", "number": 90003, "kind": "signs"},
    ]


def test_an_unknown_number_is_nothing(file: ContentFile) -> None:
    assert record_of(file, "spawn", 5) is None
    assert record_of(file, "zone", 10) is None
