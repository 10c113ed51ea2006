"""The titles of one player: given ones, and the two it bears before and behind its name.

A client is told all of them with TitleUpdate and says by their place in that list which it wants to
bear (docs/protocol/world/entering.md#small-messages). Others see them as parts of its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from emu.errors import CommandError
from emu.model import Title
from emu.world.players.client import WorldClient
from emu.world.spawns import Spawn

LONGEST_TITLE: Final = 63
"""Bytes that a ghost has for each of the two."""
MOST_TITLES: Final = 250
NONE: Final = -1


class Titles:
    """Whoever may bear a title bears at most one before and one behind the name."""

    __slots__ = ("_given", "prefix", "suffix")

    def __init__(self, given: Iterable[Title] = (), prefix: str = "", suffix: str = "") -> None:
        self._given = dict.fromkeys(given)
        self.prefix = prefix if Title(prefix, is_prefix=True) in self._given else ""
        self.suffix = suffix if Title(suffix) in self._given else ""

    @property
    def given(self) -> tuple[Title, ...]:
        """All titles, in the order they were given."""
        return tuple(self._given)

    def give(self, title: Title) -> bool:
        """Give a title; False when it was given before. Raises `CommandError`."""
        if not title.text.isprintable() or not 0 < len(title.text.encode()) <= LONGEST_TITLE:
            raise CommandError(f"a title has 1 to {LONGEST_TITLE} letters")
        if title in self._given:
            return False
        if len(self._given) >= MOST_TITLES:
            raise CommandError(f"nobody has more than {MOST_TITLES} titles")
        self._given[title] = None
        return True

    def bear(self, title: Title) -> None:
        """Bear one of them from now on. Raises `CommandError` for one that was not given."""
        if title not in self._given:
            raise CommandError(f"you have no title {title.text}")
        if title.is_prefix:
            self.prefix = title.text
        else:
            self.suffix = title.text

    def find(self, name: str, *, is_prefix: bool) -> Title:
        """Return one by its place in the list or its text. Raises `CommandError`."""
        for place, title in enumerate(self._given):
            if title.is_prefix == is_prefix and name.casefold() in (
                str(place), title.text.casefold(),
            ):  # fmt: skip
                return title
        where = "before" if is_prefix else "behind"
        raise CommandError(f"you have no such title to bear {where} your name")

    def lay_down(self, *, is_prefix: bool) -> None:
        """Bear none at one of the two places."""
        if is_prefix:
            self.prefix = ""
        else:
            self.suffix = ""

    def show(self, spawn: Spawn) -> None:
        """Have everybody see what is borne; nothing is told when that is seen already."""
        if (spawn.prefix, spawn.suffix) != (self.prefix, self.suffix):
            spawn.set_info(prefix=self.prefix, suffix=self.suffix)

    def send(self, client: WorldClient) -> None:
        """Tell a client what titles there are, and which are borne."""
        given = self.given
        client.send(
            "WS_TitleUpdate",
            {
                "num_titles": len(given),
                "titles_array": [
                    {"title": title.text, "prefix": int(title.is_prefix)} for title in given
                ],
                "current_prefix": self._place(Title(self.prefix, is_prefix=True)),
                "current_suffix": self._place(Title(self.suffix)),
            },
        )

    def _place(self, borne: Title) -> int:
        return self.given.index(borne) if borne in self._given else NONE
