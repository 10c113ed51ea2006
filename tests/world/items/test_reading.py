"""The window of a book, for the versions of the recordings."""

from __future__ import annotations

import pytest

from tests.support.world import item_kinds as kinds
from tests.support.world.item_scenes import scene
from tests.support.world.worlds import Client

VERSIONS = [546, 561, 1096, 1208, 60114]
BOOK, FOREIGN, EMPTY = 920104, 920105, 920106
PAGES = 'book_pages = [{id = 1, text = "First."}, {id = 2, text = "Zweite für dich."}]'
ROWS = (
    f'id = {BOOK}, name = "Almanac", books = {{language = 0, title = "The Almanac"}}, {PAGES}',
    f'id = {FOREIGN}, name = "Dark Almanac", books = {{language = 9}}, {PAGES}',
    f'id = {EMPTY}, name = "Blank Book", books = {{language = 0}}',
)


def reader(version: int) -> Client:
    """Return a client with the three books."""
    harness, client = scene(version)
    harness.kinds = harness.parts.items.kinds = kinds.item_kinds(ROWS)
    for item in (BOOK, FOREIGN, EMPTY):
        client.types(f"/summonitem {item}")
    return client


@pytest.mark.parametrize("version", VERSIONS)
def test_a_book_shows_its_pages_in_a_known_language(version: int) -> None:
    client = reader(version)
    for place in ("0", "1", "2", "3", "-1", ""):
        assert client.types(f"/read read {place}") == []
    (window,) = client.decoded("WS_EqShowBook")
    assert window["book_title"] == "The Almanac"
    rows = window["book_page_array" if version < 1096 else "page_array"]
    assert [row["page_text"].encode("latin-1").decode() for row in rows] == [
        "First.", "Zweite für dich.",
    ]  # fmt: skip
