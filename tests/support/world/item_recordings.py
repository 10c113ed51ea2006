"""Recordings of things, and the kinds that they were made with.

They lie outside of the repository, beside the checkout (``EMU_RECORDINGS``).
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from emu.content.importing import import_content
from emu.content.items import ItemKinds
from emu.content.sources import dump_parts
from tests.support.files.recordings import RECORDINGS

_WITHOUT_NUMBER = re.compile(
    r"INSERT INTO `(item_mod_stats|item_effects|item_appearances|item_details_recipe_items"
    r"|item_details_book_pages|recipe_secondary_comp|recipe_comp_list_item|collection_details"
    r"|collection_rewards|lootdrop|spawn_loot|merchants|merchant_inventory)` \((.*?)\) VALUES \("
)
"""Statements that let the database number their rows."""


@cache
def recorded_kinds() -> ItemKinds:
    """Return the kinds of set A; skip the test where the recordings are missing."""
    return ItemKinds(recorded_content())


@cache
def recorded_content() -> Path:
    """Return a content file of set A; skip the test where the recordings are missing."""
    path = RECORDINGS / "items-set-A.sql"
    if not path.exists():
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    numbers = count(1)
    text = _WITHOUT_NUMBER.sub(
        lambda found: f"INSERT INTO `{found[1]}` (`id`,{found[2]}) VALUES ({next(numbers)},",
        path.read_text(encoding="utf-8"),
    )
    folder = Path(mkdtemp())
    dump, content = folder / "set.sql", folder / "content.sqlite"
    dump.write_text(text, encoding="utf-8")
    import_content(dump_parts([dump]), content)
    return content


def recorded(version: int, *messages: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield client, name and body of each recorded message of a version that has a name."""
    for client, name, sub, body in _messages_of(version):
        if {name, sub} & {*messages}:
            yield client, name, body


@cache
def _messages_of(version: int) -> list[tuple[str, str, str | None, bytes]]:
    """Return client, name, name inside, and body of what a version was sent."""
    return [each for path in _recordings() for each in _sent(path).get(version, ())]


def _recordings() -> list[Path]:
    found = sorted(RECORDINGS.glob("items-*.jsonl.gz"))
    if not found:
        pytest.skip("the recordings are not on this machine (EMU_RECORDINGS)")
    return found


@cache
def _sent(path: Path) -> dict[int, list[tuple[str, str, str | None, bytes]]]:
    """Return what one recording has, by version: reading it takes most of a test's time."""
    versions: dict[str, int] = {}
    found: dict[int, list[tuple[str, str, str | None, bytes]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            if row["k"] == "meta":
                versions[row["c"]] = row["ver"]
            elif row["k"] == "app" and row["d"] == "s2c" and row["c"] in versions:
                name = row.get("subname") or row["name"]
                message = (
                    f"{path.name} {row['c']}",
                    name,
                    row.get("sub"),
                    bytes.fromhex(row["hex"]),
                )
                found.setdefault(versions[row["c"]], []).append(message)
    return found
