"""The window of a book: its title and its pages.

Source: docs/protocol/world/items.md#books.
"""

from __future__ import annotations

from typing import Final

from emu.items.kinds import Book, ItemKind
from emu.world.actors.player import Player
from emu.world.knowledge import Knowledge

STRUCT: Final = "WS_EqShowBook"
PLAIN: Final = "simple"
"""The form of the window: pages with text and no images."""
MOST_PAGES: Final = 255
LONGEST_PAGE: Final = 8192
"""Bytes of one page."""


def show_book(player: Player, kind: ItemKind, knowledge: Knowledge) -> bool:
    """Show the pages of a book to a player who knows its language; return whether it was shown."""
    part = kind.part
    if not isinstance(part, Book) or not part.pages:
        return False
    if not knowledge.understands(player.character, part.language):
        return False
    texts = [_text(page.text) for page in part.pages[:MOST_PAGES]]
    values = {
        "spawn_id": player.index_of(player.spawn) or 0,
        "book_title": part.title or kind.name,
        "language": part.language & 0xFF,
        "book_type": PLAIN,
        "num_pages": len(texts),
        # One of the two lists, by the version.
        "book_page_array": [{"page_text": text} for text in texts],
        "page_array": [
            {
                "page_text": text, "page_text_valign": page.vertical & 0xFF,
                "page_text_halign": page.horizontal & 0xFF,
            }
            for text, page in zip(texts, part.pages, strict=False)
        ],
    }  # fmt: skip
    return player.client.send(STRUCT, values)


def _text(text: str) -> str:
    return text.encode()[:LONGEST_PAGE].decode("utf-8", "ignore")
