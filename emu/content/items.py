"""Kinds of things, as a content file and the server's TOML files have them.

A kind is read when it is first needed, and shared from then on. `ItemKinds` remembers the last ones
that were used: things that somebody has keep their kind anyway.

Source: docs/protocol/world/items.md#kinds, docs/guides/items.md#files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from emu.content.beginners import StartingThing
from emu.content.by_need import KindsByNeed
from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.content.stand_ins import STAND_IN
from emu.content.tables import Column, content_tables
from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.items.kinds import (
    Adornment,
    Armor,
    Bag,
    Bauble,
    Book,
    BookRecipe,
    Container,
    Crate,
    Effect,
    Flag,
    Food,
    Furniture,
    ItemKind,
    ItemLook,
    MoreFlag,
    Packed,
    Page,
    Part,
    Range,
    Ranged,
    RecipeBook,
    Scroll,
    Sort,
    Stat,
    Thrown,
    Weapon,
)

MOST_REMEMBERED: Final = 12_000
"""Kinds that are kept although nobody uses them; each takes about 2 kB."""
OWN_NUMBERS: Final = 2_000_000_000
"""The first number for kinds of TOML files, which no database reaches."""
LARGEST_NUMBER: Final = 0x7FFFFFFF
_COLUMNS: Final[Mapping[str, Flag]] = {
    "attuneable": Flag.ATTUNEABLE, "artifact": Flag.ARTIFACT, "lore": Flag.LORE,
    "temporary": Flag.TEMPORARY, "notrade": Flag.NO_TRADE, "novalue": Flag.NO_VALUE,
    "nozone": Flag.NO_ZONE, "nodestroy": Flag.NO_DESTROY, "crafted": Flag.CRAFTED,
    "good_only": Flag.GOOD_ONLY, "evil_only": Flag.EVIL_ONLY, "stacklore": Flag.STACK_LORE,
    "lore_equip": Flag.LORE_EQUIP, "no_transmute": Flag.NO_TRANSMUTE, "cursed": Flag.CURSED,
}  # fmt: skip
_MORE_COLUMNS: Final[Mapping[str, MoreFlag]] = {
    "ornate": MoreFlag.ORNATE, "heirloom": MoreFlag.HEIRLOOM,
    "appearance_only": MoreFlag.APPEARANCE_ONLY, "unlocked": MoreFlag.UNLOCKED,
    "reforged": MoreFlag.REFORGED, "norepair": MoreFlag.NO_REPAIR, "etheral": MoreFlag.ETHERAL,
    "refined": MoreFlag.REFINED, "no_salvage": MoreFlag.NO_SALVAGE,
    "indestructable": MoreFlag.INDESTRUCTABLE, "no_experiment": MoreFlag.NO_EXPERIMENT,
    "house_lore": MoreFlag.HOME_LORE, "building_block": MoreFlag.BUILDING_BLOCK,
    "free_reforge": MoreFlag.FREE_REFORGE,
}  # fmt: skip
_BITS: Final = [(name, int(flag)) for name, flag in _COLUMNS.items()]
_MORE_BITS: Final = [(name, int(flag)) for name, flag in _MORE_COLUMNS.items()]
NO_SKILL: Final = 0xFFFFFFFF


class ItemRows(Protocol):
    """Rows of tables about items: those of a content file, or of a TOML file."""

    def rows(self, name: str, column: str, values: Sequence[Any]) -> Iterable[Row]:
        """Return the rows of a table whose column has one of some values."""


# -- building -----------------------------------------------------------------------------------

_Maker = Callable[[Row, "_Lists"], tuple[Sort, Part]]


class _Lists:
    """The rows that belong to some kinds, by table and item."""

    def __init__(self, source: ItemRows, ids: Sequence[int]) -> None:
        self._source, self._ids = source, ids
        self._known: dict[str, dict[int, list[Row]]] = {}

    def of(self, table: str, item_id: int, column: str = "item_id") -> list[Row]:
        """Return the rows of a table that belong to an item."""
        if table not in self._known:
            found: dict[int, list[Row]] = {}
            for row in self._source.rows(table, column, self._ids):
                found.setdefault(row[column], []).append(row)
            self._known[table] = found
        return self._known[table].get(item_id, [])

    def others(self, table: str, column: str, value: int) -> list[Row]:
        """Return the rows of a table that another number than the item's chooses."""
        return list(self._source.rows(table, column, [value]))


def _damage(row: Row) -> tuple[Range, Range, Range]:
    return (
        Range(row["low"], row["high"]), Range(row["mastery_low"], row["mastery_high"]),
        Range(row["base_low"], row["base_high"]),
    )  # fmt: skip


def _weapon(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    delay, rating = row["delay"], row["rating"]
    part = Weapon(row["wield"], row["damage"], *_damage(row), delay, rating, row["score"])
    return Sort.WEAPON, part


def _ranged(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    reach = Range(row["range_low"], row["range_high"])
    return Sort.RANGED, Ranged(
        row["damage"], *_damage(row), row["delay"], row["rating"], reach, row["score"]
    )


def _thrown(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.THROWN, Thrown(
        row["range_bonus"], row["damage_bonus"], row["hit_bonus"], row["damage"]
    )


def _armor(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.ARMOR, Armor(Range(row["low"], row["high"]), row["absorb"], row["score"])


def _shield(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.SHIELD, Armor(Range(row["low"], row["high"]), 0, row["score"])


def _bag(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.BAG, Bag(max(0, min(row["slots"], 255)), row["weight_reduction"])


def _food(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.FOOD, Food(bool(row["kind"]), row["level"], row["duration"], row["satiation"])


def _bauble(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.BAUBLE, Bauble(
        row["cast_time"], row["recovery"], row["duration"], row["recast"], bool(row["shows_slot"]),
        bool(row["shows_cast_time"]), bool(row["shows_kind"]), row["radius"], row["most_targets"],
        bool(row["lasts_until_cancelled"]), row["score"],
    )  # fmt: skip


def _scroll(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.SCROLL, Scroll(row["spell_id"], row["tier"])


def _recipe_book(row: Row, lists: _Lists) -> tuple[Sort, Part]:
    recipes = lists.others("item_recipes", "recipe_id", row["recipe_id"])
    named = []
    for one in recipes:
        found = lists.others("recipes", "crc", one["crc"])
        # Recorded: books show recipes by the name of the recipe, not by that of their own row.
        number, name = (found[0]["id"], found[0]["name"]) if found else (0, one["name"])
        named.append(BookRecipe(number, one["crc"], name, one["icon"]))
    return Sort.RECIPE_BOOK, RecipeBook(row["recipe_id"], row["most_uses"], tuple(named))


def _book(row: Row, lists: _Lists) -> tuple[Sort, Part]:
    pages = tuple(
        Page(one["text"], one["vertical"], one["horizontal"])
        for one in lists.of("item_book_pages", row["item_id"])
    )
    return Sort.BOOK, Book(row["language"], row["author"], row["title"], pages)


def _furniture(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    return Sort.FURNITURE, Furniture(
        row["rent_reduction"], row["status_rent_reduction"], row["coin_rent_reduction"],
        bool(row["only_at_home"]), row["where"],
    )  # fmt: skip


def _container(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    allowed = str(row["allowed"])
    return Sort.CONTAINER, Container(
        row["slots"], int(allowed) if allowed.isdecimal() else 0, row["broker_commission"],
        row["fence_commission"],
    )  # fmt: skip


def _adornment(row: Row, _lists: _Lists) -> tuple[Sort, Part]:
    items = str(row["items"])
    return Sort.ADORNMENT, Adornment(
        row["duration"], int(items) if items.isdecimal() else 0, row["slot"], row["description"],
        row["second_description"],
    )  # fmt: skip


def _set(row: Row, lists: _Lists) -> tuple[Sort, Part]:
    return Sort.CRATE, Crate(
        tuple(
            Packed(one["item_id"], 0, one["icon"], max(1, one["stack"]), "", one["color"])
            for one in lists.of("item_sets", row["set_id"], "set_id")
        )
    )


_MAKERS: Final[Mapping[str, _Maker]] = {
    "item_baubles": _bauble, "item_bags": _bag, "item_books": _book, "item_sets": _set,
    "item_furniture": _furniture, "item_foods": _food, "item_weapons": _weapon,
    "item_ranged": _ranged, "item_thrown": _thrown, "item_armor": _armor,
    "item_shields": _shield, "item_scrolls": _scroll, "item_adornments": _adornment,
    "item_recipe_books": _recipe_book, "item_containers": _container,
}  # fmt: skip
"""The tables of parts; of several that have a row for an item the last one counts."""


def kinds_of(source: ItemRows, ids: Collection[int]) -> dict[int, ItemKind]:
    """Return the kinds of some numbers; numbers without a row in `items` are left out."""
    wanted = sorted(set(ids))
    lists = _Lists(source, wanted)
    return {row["id"]: _kind(row, lists) for row in source.rows("items", "id", wanted)}


def _kind(row: Row, lists: _Lists) -> ItemKind:
    item_id = row["id"]
    sort, part = _part_of(item_id, lists)
    # Whole numbers: an operation with flags costs more than all else of a kind.
    flags = sum(bit for name, bit in _BITS if row[name])
    more = sum(bit for name, bit in _MORE_BITS if row[name])
    looks = lists.of("item_appearances", item_id)
    return ItemKind(
        id=item_id,
        name=row["name"],
        sort=sort,
        part=part,
        crc=row["crc"],
        icon=row["icon"] & 0xFFFF,
        tier=row["tier"],
        weight=max(0, row["weight"]),
        description=row["description"],
        flags=Flag(flags),
        more_flags=MoreFlag(more),
        slot_bits=row["slots"],
        price=max(0, row["price"]),
        status_price=max(0, row["status_price"]),
        stack=max(1, min(row["stack"], 0xFFFF)),
        most_charges=max(0, min(row["most_charges"], 0xFFFF)),
        shows_charges=bool(row["shows_charges"]),
        is_usable=bool(row["is_usable"]),
        recommended_level=row["recommended_level"],
        level=row["level"],
        tradeskill_level=row["tradeskill_level"],
        classes=row["classes"],
        tradeskill_classes=row["tradeskill_classes"],
        skills=(_skill(row["skill"]), _skill(row["second_skill"])),
        min_skill=row["min_skill"],
        script=row["script"],
        is_collectable=bool(row["is_collectable"]),
        is_harvest=bool(row["harvest"]),
        offers_quest=row["offers_quest"],
        part_of_quest=row["part_of_quest"],
        is_body_drop=bool(row["is_body_drop"]),
        has_no_buy_back=bool(row["has_no_buy_back"]),
        set_id=row["set"],
        transmuted_material=row["transmuted_material"],
        adornment_slots=tuple(row[f"adornment_slot{number}"] for number in range(1, 7)),
        stats=_stats(lists.of("item_stats", item_id)),
        effects=tuple(
            Effect(one["text"], one["percentage"], one["bullet"])
            for one in lists.of("item_effects", item_id)
        ),
        look=_look(looks[0]) if looks else None,
        is_stand_in=row["kind"] == STAND_IN,
    )


def _part_of(item_id: int, lists: _Lists) -> tuple[Sort, Part | None]:
    for table in reversed(list(_MAKERS)):
        column = "set_id" if table == "item_sets" else "item_id"
        rows = lists.of(table, item_id, column)
        if rows:
            return _MAKERS[table](rows[-1], lists)
    return Sort.NORMAL, None


def _skill(number: int) -> int:
    """Return the number of a skill that an item needs; 0 for none."""
    return 0 if number in (0, NO_SKILL, -1) else number


def _stats(rows: Iterable[Row]) -> tuple[Stat, ...]:
    # In the order of the column, which is not part of the key.
    ordered = sorted(rows, key=lambda row: (row["index"], row["id"]))
    return tuple(
        Stat(
            row["kind"], row["subkind"],
            row["decimal"] if row["kind"] == 6 else row["integer"] or int(row["decimal"]),
            row["text"], row["level"],
        )
        for row in ordered
    )  # fmt: skip


def _look(row: Row) -> ItemLook:
    return ItemLook(
        row["model"], (row["red"], row["green"], row["blue"]),
        (row["highlight_red"], row["highlight_green"], row["highlight_blue"]),
    )  # fmt: skip


# -- TOML files ---------------------------------------------------------------------------------


class TomlItems:
    """Items of TOML files: rows of the same tables, and changes of items of the content file.

    A table ``[[item]]`` has the columns of `items` and, under the names of the tables of parts,
    their columns: ``weapons``, ``armor``, ``bags``; ``stats`` and ``effects`` are lists.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Raises `FileFormatError`."""
        self._tables: dict[str, dict[int, list[dict[str, Any]]]] = {}
        self.numbers: set[int] = set()
        """The numbers of all items that the files describe or change."""
        self.beginners: dict[Path, list[Any]] = {}
        """The tables ``[[starting_item]]`` of each file: the things of new characters."""
        self._own: set[int] = set()
        for path in paths:
            document = read_document(path)
            for row in _tables_of(path, document, "item"):
                self._add(path, row)
            self.beginners[path] = _tables_of(path, document, "starting_item")

    def _add(self, path: Path, table: Any) -> None:
        values = dict(table) if isinstance(table, dict) else {}
        number = values.get("id")
        if type(number) is not int or not 0 < number <= LARGEST_NUMBER:
            raise FileFormatError(f"{path}: item: id must be a number above 0")
        try:
            parts = {
                name: values.pop(name) for name in list(values) if f"item_{name}" in _part_tables()
            }
            if number >= OWN_NUMBERS:
                self._own.add(number)
            self._put("items", number, values)
            for name, rows in parts.items():
                for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
                    self._put(f"item_{name}", number, _keys(f"item_{name}", number, index) | row)
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"{path}: item {number}: {error}") from error
        self.numbers.add(number)

    def _put(self, table: str, number: int, values: Mapping[str, Any]) -> None:
        columns = _columns_of(table)
        row = {}
        for name, value in values.items():
            if name not in columns:
                raise ValueError(f"{name}: {table} has no such key")
            stored = columns[name].convert(value)
            if stored is None:
                raise ValueError(f"{name}: {value!r} is no usable value")
            row[name] = stored
        self._tables.setdefault(table, {}).setdefault(number, []).append(row)

    def over(self, source: ItemRows | None) -> ItemRows:
        """Return the rows of a content file with those of the files above them."""
        return _Layered(self._tables, self._own, source)


class _Layered:
    """Rows of a content file, changed by those of TOML files."""

    def __init__(
        self,
        tables: Mapping[str, Mapping[int, Sequence[Mapping[str, Any]]]],
        own: Collection[int],
        source: ItemRows | None,
    ) -> None:
        self._tables, self._own, self._source = tables, own, source

    def rows(self, name: str, column: str, values: Sequence[Any]) -> Iterable[Row]:
        """Yield the rows of a table; see `ItemRows`."""
        layer = self._tables.get(name, {})
        below = [one for one in values if one not in self._own]
        seen = set()
        if self._source is not None and below:
            for row in self._source.rows(name, column, below):
                changed = layer.get(row[column], ())
                if changed and name != "items":
                    continue  # the rows of a part or a list replace those of the file
                seen.add(row[column])
                yield {**row, **changed[0]} if changed else row
        for value in values:
            if value in seen:
                continue
            for row in layer.get(value, ()):
                # Without a name it changes an item that the content file does not have.
                if name != "items" or "name" in row:
                    yield {**_defaults(name), **row}


def _tables_of(path: Path, document: Mapping[str, Any], name: str) -> list[Any]:
    rows = document.get(name, [])
    if not isinstance(rows, list):
        raise FileFormatError(f"{path}: {name}: must be written as [[{name}]]")
    return rows


def _keys(table: str, number: int, index: int) -> dict[str, int]:
    """Return the key columns of a row of a TOML file, by its place among those of its item."""
    numbers = {"index": index, "id": index}
    keys = {name: value for name, value in numbers.items() if name in _columns_of(table)}
    return {"item_id": number, **keys}


@cache
def _part_tables() -> frozenset[str]:
    return frozenset(
        (*_MAKERS, "item_stats", "item_effects", "item_appearances", "item_book_pages")
    )


@cache
def _columns_of(table: str) -> Mapping[str, Column]:
    return {column.name: column for column in content_tables()[table].columns}


@cache
def _defaults(table: str) -> Mapping[str, Any]:
    return {name: column.default for name, column in _columns_of(table).items()}


def shipped_items() -> Path:
    """Return the file of the items that come with the server."""
    return data_file("world", "items.toml")


# -- the kinds of a world -----------------------------------------------------------------------


class ItemKinds(KindsByNeed[ItemKind]):
    """The kinds of one world; any thread may call it.

    A kind that nobody has asked for yet is read from the content file: one takes some tenths of a
    millisecond. `load` reads many at once and belongs into a thread that may wait.
    """

    def __init__(
        self,
        content: Path | None = None,
        layer: TomlItems | None = None,
        starting: Sequence[StartingThing] = (),
    ) -> None:
        """`starting` are the things of new characters."""
        super().__init__(content, MOST_REMEMBERED, LARGEST_NUMBER)
        self._layer = layer or TomlItems()
        self.starting = starting
        self._rows: ItemRows = self._layer.over(None)

    def reload(
        self,
        content: Path | None,
        layer: TomlItems | None = None,
        starting: Sequence[StartingThing] = (),
    ) -> None:
        """Read from another file, or from the changed one; kinds are read anew."""
        with self._lock:
            self.starting = starting
            self._start_over(content)
            self._layer = layer or self._layer
            self._rows = self._layer.over(None)

    def _opened(self) -> ContentFile | None:
        if self._path is not None and self._file is None:
            self._rows = self._layer.over(super()._opened())
        return self._file

    def _found(self, numbers: Sequence[int]) -> Mapping[int, ItemKind]:
        self._opened()
        return kinds_of(self._rows, numbers)

    def search(self, word: str, most: int = 50) -> list[tuple[int, str]]:
        """Return number and name of items whose name contains a word, by number."""
        with self._lock:
            file = self._opened()
            below = [] if file is None else file.matching(
                "items", "id", ["name"], word, most
            )  # fmt: skip
        own = [
            (number, kind.name) for number, kind in sorted(self.load(self._layer.numbers).items())
            if word.casefold() in kind.name.casefold()
        ]  # fmt: skip
        found = dict([*((int(number), name) for number, name in below), *own])
        return sorted(found.items())[:most]
