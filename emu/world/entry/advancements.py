"""Tabs of alternate advancements: their names and limits, from `data/world/advancements.toml`.

Source: docs/protocol/world/newer.md#advancements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from attrs import frozen

from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.schema import LARGEST_NUMBER, TextBytes, field, read_table
from emu.world.knowledge import class_line

PARENT, CLASS = "parent", "class"
"""The values of `Tree.of`."""
NAME: Final = TextBytes(255)
LATER: Final = {42: 41, 44: 43}
"""Classes behind the blocks of the archetypes, with the classes from which they grow."""


@frozen
class Tree:
    """One tree of a character's advancements: a row of ``tree``."""

    number: int = field()
    most: int = field(limits=(0, 0xFFFF))
    first_version: int = field()
    last_version: int = field(LARGEST_NUMBER)
    title: str = field("", form=NAME)
    of: str = field("", form=NAME)
    """Whose name is the title: `PARENT`, `CLASS`, or "" for a fixed title."""


@frozen
class AdvancementTemplate:
    """A profile of advancements: a row of ``template``."""

    id: int = field(limits=(0, 0xFF))
    name: str = field(form=NAME)
    active: bool = field()
    first_version: int = field()


@frozen
class Advancements:
    """The tabs of alternate advancements of all versions."""

    classes: tuple[str, ...] = field(form=NAME)
    tabs: tuple[str, ...] = field(form=NAME)
    tree: tuple[Tree, ...] = field()
    template: tuple[AdvancementTemplate, ...] = field()

    def trees(self, version: int) -> Sequence[Tree]:
        """Return the trees of a client version."""
        return [row for row in self.tree if row.first_version <= version <= row.last_version]

    def templates(self, version: int) -> Sequence[AdvancementTemplate]:
        """Return the profiles of a client version."""
        return [row for row in self.template if row.first_version <= version]

    def title(self, tree: Tree, class_: int) -> str:
        """Return the title of a tree for a class, by its number."""
        match tree.of:
            case "":
                return tree.title
            case "class":
                return self._class_name(class_)
            case _:
                return self._class_name(_parent(class_))

    def _class_name(self, class_: int) -> str:
        return self.classes[class_] if 0 <= class_ < len(self.classes) else ""


def _parent(class_: int) -> int:
    """Return the class from which a class grows: a warrior for a guardian, 0 for a fighter."""
    if class_ in LATER:
        return LATER[class_]
    # Numbers of one line ascend: the archetype, its class, its subclass.
    return max((one for one in class_line(class_) if one < class_), default=0)


@cache
def read_advancements() -> Advancements:
    """Read the shipped table. Raises `FileFormatError`."""
    path = data_file("world", "advancements.toml")
    table = read_table(Advancements, read_document(path), path)
    for row in table.tree:
        if row.of not in ("", PARENT, CLASS):
            raise FileFormatError(f"tree.of: unknown value {row.of}", place=str(path))
    return table
