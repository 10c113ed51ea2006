"""Loot of NPCs and lists of merchants, as a content file and TOML files have them.

Source: docs/guides/content.md#loot, docs/guides/content.md#merchants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple

from emu.content.file import ContentFile
from emu.content.rows import Row
from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.rules.loot import LootDrop, LootTable

UNLIMITED: Final = 254
"""A merchant has as many of a thing as are asked for, from this quantity on."""


class GlobalLoot(NamedTuple):
    """A loot table of many NPCs: those of a level, a zone or a race."""

    table_id: int
    kind: str
    """``level``, ``zone`` or ``racial``."""
    subject: int
    """The number of the zone or of the race; 0 for levels."""
    levels: tuple[int, int]
    """The lowest and the highest level; (0, 0): any."""
    least_tier: int
    """The least loot tier of the NPC."""

    def fits(self, zone_id: int, race: int, level: int, tier: int) -> bool:
        """Return whether an NPC of a zone, a race, a level and a loot tier has this table."""
        own = {"zone": zone_id, "racial": race}.get(self.kind, self.subject)
        low, high = self.levels
        return (
            own == self.subject and tier >= self.least_tier
            and (self.levels == (0, 0) or low <= level <= high)
        )  # fmt: skip


class Ware(NamedTuple):
    """One thing in the list of a merchant; without a price it costs what the item is worth."""

    item_id: int
    quantity: int | None
    """None: as many as are asked for."""
    coins: int
    """In copper."""
    status: int
    tokens: tuple[tuple[int, int], ...]
    """Items that it costs, each with their number."""

    @property
    def has_price(self) -> bool:
        """Whether it has a price of its own."""
        return bool(self.coins or self.status or self.tokens)


def loot_tables(file: ContentFile, ids: Iterable[int]) -> dict[int, LootTable]:
    """Return loot tables by number; numbers without a table are left out."""
    wanted = sorted(set(ids))
    drops: dict[int, list[LootDrop]] = {}
    for row in file.rows("loot_drops", "table_id", wanted):
        drops.setdefault(row["table_id"], []).append(
            LootDrop(
                row["item_id"],
                row["charges"] or 1,
                bool(row["is_worn"]),
                row["weight"],
                row["unless_quest"],
            )
        )
    return {
        row["id"]: LootTable(
            row["id"], row["name"], _range(row["min_coins"], row["max_coins"]),
            row["coin_probability"], row["most_items"], row["drop_probability"],
            tuple(drops.get(row["id"], ())),
        )
        for row in file.rows("loot_tables", "id", wanted)
    }  # fmt: skip


def loot_of(file: ContentFile, spawns: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Return the numbers of the loot tables of spawns, those of `spawn_loot`; by spawn."""
    found: dict[int, list[int]] = {}
    for row in file.rows("spawn_loot", "spawn_id", spawns):
        found.setdefault(row["spawn_id"], []).append(row["table_id"])
    return {spawn: tuple(tables) for spawn, tables in found.items()}


def global_loot(file: ContentFile) -> list[GlobalLoot]:
    """Return the loot tables of levels, zones and races, by their numbers."""
    return [_global(row) for row in file.table("global_loot")]


def wearers(file: ContentFile) -> frozenset[int]:
    """Return the spawns with a loot table of their own that has things which they wear."""
    tables = sorted({row["table_id"] for row in file.rows("loot_drops", "is_worn", [1])})
    return frozenset(row["spawn_id"] for row in file.rows("spawn_loot", "table_id", tables))


def _global(row: Row) -> GlobalLoot:
    values = [row[f"value{number}"] for number in range(1, 5)]
    is_level = row["kind"] == "level"
    subject, low, high = (0, *values[:2]) if is_level else tuple(values[:3])
    # A highest level below the lowest one means one level.
    return GlobalLoot(row["table_id"], row["kind"], subject, (low, max(low, high)), values[3])


def wares_of(file: ContentFile, merchants: Sequence[int]) -> Mapping[int, tuple[Ware, ...]]:
    """Return what merchants sell, by the number of the merchant, in the order of their windows."""
    lists: dict[int, list[int]] = {}
    for row in file.rows("merchants", "merchant_id", merchants):
        # The list that was added last comes first.
        lists.setdefault(row["merchant_id"], []).insert(0, row["inventory_id"])
    inventories = sorted({one for several in lists.values() for one in several})
    wares: dict[int, dict[int, Ware]] = {}
    for row in file.rows("merchant_items", "inventory_id", inventories):
        # Nobody has station cash. Of a thing that is twice in a list the first counts.
        if not row["price_station_cash"]:
            wares.setdefault(row["inventory_id"], {}).setdefault(row["item_id"], _ware(row))
    found = {}
    for merchant, several in lists.items():
        shown: dict[int, Ware] = {}
        for one in several:
            for item_id, ware in wares.get(one, {}).items():
                # Of a thing that is in two lists of a merchant the first counts too.
                shown.setdefault(item_id, ware)
        found[merchant] = tuple(shown.values())
    return found


def _ware(row: Row) -> Ware:
    tokens = (
        (row["price_item"], row["price_item_quantity"]),
        (row["second_price_item"], row["second_price_item_quantity"]),
    )
    return Ware(
        row["item_id"], None if row["quantity"] >= UNLIMITED else row["quantity"],
        row["price_coins"], row["price_status"],
        # A price of quantity 0 is ignored.
        tuple(token for token in tokens if all(token)),
    )  # fmt: skip


def _range(low: int, high: int) -> tuple[int, int]:
    """Return two bounds in their order: some tables have them crossed."""
    return min(low, high), max(low, high)


# -- TOML files ---------------------------------------------------------------------------------


class TomlTrade:
    """Merchants and loot tables of TOML files, by number.

    A table ``[[merchant]]`` has `id` and `items`, rows with `item`, `quantity`, `coins` and
    `status`. A table ``[[loot]]`` has the columns of `loot_tables`, and `drops`, rows with `item`,
    `charges` and `weight`.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Raises `FileFormatError`."""
        self.wares: dict[int, tuple[Ware, ...]] = {}
        self.tables: dict[int, LootTable] = {}
        for path in paths:
            document = read_document(path)
            try:
                for row in document.get("merchant", []):
                    self.wares[_number(row, "id")] = tuple(map(_toml_ware, row["items"]))
                for row in document.get("loot", []):
                    table = _toml_table(row)
                    self.tables[table.id] = table
            except (KeyError, TypeError, ValueError) as error:
                raise FileFormatError(f"{path}: merchant or loot: {error}") from error


def _number(row: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = row.get(name, default)
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a number")
    return value


def _toml_ware(row: Mapping[str, Any]) -> Ware:
    quantity = _number(row, "quantity", UNLIMITED)
    return Ware(
        _number(row, "item"), None if quantity >= UNLIMITED else quantity,
        _number(row, "coins", 0), _number(row, "status", 0), (),
    )  # fmt: skip


def _toml_table(row: Mapping[str, Any]) -> LootTable:
    drops = tuple(
        LootDrop(
            _number(one, "item"), _number(one, "charges", 1), is_worn=False,
            weight=float(_number(one, "weight", 100)), unless_quest=0,
        )
        for one in row.get("drops", ())
    )  # fmt: skip
    return LootTable(
        _number(row, "id"), str(row.get("name", "")),
        _range(_number(row, "min_coins", 0), _number(row, "max_coins", 0)),
        float(_number(row, "coin_probability", 100)), _number(row, "most_items", 1),
        float(_number(row, "drop_probability", 100)), drops,
    )  # fmt: skip


def shipped_trade() -> Path:
    """Return the file of the merchants and loot tables that come with the server."""
    return data_file("world", "trade.toml")


# -- the trade of a world -----------------------------------------------------------------------


class TradeTables:
    """The merchants and the loot of one world, read when they are first needed.

    Any thread may call it. A first call takes about a millisecond.
    """

    def __init__(self, content: Path | None = None, layer: TomlTrade | None = None) -> None:
        self._layer = layer or TomlTrade()
        self._lock = Lock()
        self.reload(content)

    def reload(self, content: Path | None) -> None:
        """Read from another file, or from the changed one."""
        with self._lock:
            self._path = content
            self._file: ContentFile | None = None
            self._wares: dict[int, tuple[Ware, ...]] = dict(self._layer.wares)
            self._tables: dict[int, LootTable] = dict(self._layer.tables)
            self._own: dict[int, tuple[int, ...]] = {}
            self._wearers: frozenset[int] | None = None
            self._global: list[GlobalLoot] | None = None
            self._races: dict[int, int] = {}
            self._fits: dict[tuple[int, int, int, int], tuple[GlobalLoot, ...]] = {}

    def _content(self) -> ContentFile | None:
        if self._path is not None and self._file is None:
            self._file = ContentFile(self._path, is_shared=True)
        return self._file

    def wares(self, merchant: int) -> tuple[Ware, ...]:
        """Return what a merchant sells, in the order of its window. Raises `FileFormatError`."""
        found = self._wares.get(merchant)
        if found is None:
            with self._lock:
                file = self._content()
                found = wares_of(file, [merchant]).get(merchant, ()) if file is not None else ()
                self._wares[merchant] = found
        return found

    def loot(
        self, spawn: int, *, zone_id: int, model: int, level: int, tier: int,
        allows: Callable[[GlobalLoot], bool] | None = None,
    ) -> tuple[LootTable, ...]:  # fmt: skip
        """Return the loot tables of a spawn: its own, and those of level, race and zone.

        `spawn` is its number in the content file; `allows` decides about each table that is not its
        own. Raises `FileFormatError`.
        """
        with self._lock:
            file = self._content()
            if file is None:
                return ()
            if self._global is None:
                self._global = sorted(global_loot(file), key=lambda one: _ORDER[one.kind])
                self._races = {row["model"]: row["race"] for row in file.table("model_races")}
            if spawn not in self._own:
                self._own[spawn] = loot_of(file, [spawn]).get(spawn, ())
            fitting = self._fitting(zone_id, model, level, tier)
            own = self._own[spawn]
        # Without the lock: scripts decide.
        numbers = own + tuple(one.table_id for one in fitting if allows is None or allows(one))
        with self._lock:
            self._read_tables(file, numbers)
            return tuple(self._tables[one] for one in numbers if one in self._tables)

    def wears_loot(self, spawn: int) -> bool:
        """Return whether a spawn may wear what it drops: its own tables have such things.

        Raises `FileFormatError`.
        """
        with self._lock:
            if self._wearers is None:
                file = self._content()
                self._wearers = wearers(file) if file is not None else frozenset()
            return spawn in self._wearers

    def _fitting(self, zone_id: int, model: int, level: int, tier: int) -> tuple[GlobalLoot, ...]:
        """Return the global tables of a creature; many creatures of a zone have the same."""
        key = zone_id, self._races.get(model, 0), level, tier
        found = self._fits.get(key)
        if found is None:
            if len(self._fits) >= MOST_FITTING:
                self._fits.clear()
            known = self._global or ()
            found = self._fits[key] = tuple(one for one in known if one.fits(*key))
        return found

    def tables(self, numbers: Iterable[int]) -> tuple[LootTable, ...]:
        """Return loot tables by their numbers; those that do not exist are left out."""
        wanted = list(numbers)
        with self._lock:
            file = self._content()
            if file is not None:
                self._read_tables(file, wanted)
            return tuple(self._tables[one] for one in wanted if one in self._tables)

    def _read_tables(self, file: ContentFile, numbers: Iterable[int]) -> None:
        missing = [one for one in numbers if one not in self._tables]
        if missing:
            self._tables.update(loot_tables(file, missing))


MOST_FITTING: Final = 2000
"""Kinds of creatures whose global tables are kept."""
_ORDER: Final = {"level": 0, "racial": 1, "zone": 2}
"""The order in which global loot is rolled."""
