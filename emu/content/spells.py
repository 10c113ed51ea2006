"""Kinds of spells, as a content file and the server's TOML files have them.

A kind is read when it is first needed, and shared from then on.
Source: docs/guides/spells.md#tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple, Protocol

from emu.content.by_need import LARGEST_NUMBER, KindsByNeed
from emu.content.file import ContentFile
from emu.content.knowledge import rows_by_tier, script_value
from emu.content.rows import Row
from emu.content.tables import Column, content_tables
from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.spells.kinds import (
    ANY_CLASS,
    LONGEST_PET_NAME,
    PLAIN,
    TOGGLE,
    ClassLevel,
    Detriment,
    SpellBook,
    SpellCost,
    SpellKind,
    SpellLine,
    SpellTarget,
    SpellTier,
)
from emu.spells.opportunities import ABILITIES, NO_ABILITY, HeroicStarter, HeroicTable, HeroicWheel

MOST_REMEMBERED: Final = 4000
"""Kinds that are kept although nobody uses them; each takes about 3 kB."""
CAST_UNIT, RECOVERY_UNIT, DURATION_UNIT = 0.01, 0.1, 0.1
"""Seconds of one in the columns of times; a recast is in seconds."""
MOST_FLAGS: Final = 0xFF
"""Casting flags above it are misplaced numbers of other columns."""
GIVEN: Final = frozenset(("", "class", "classtraining"))
"""What teaches a spell without a scroll, a trait or an advancement."""


class SpellRows(Protocol):
    """Rows of tables about spells: those of a content file, or of a TOML file."""

    def rows(self, name: str, column: str, values: Sequence[Any]) -> Iterable[Row]:
        """Return the rows of a table whose column has one of some values."""


class Learned(NamedTuple):
    """A spell that a class learns."""

    spell_id: int
    level: int
    classic_level: float


class StartingSpell(NamedTuple):
    """A spell of new characters of a class and a race; 255 is any."""

    class_: int
    race: int
    spell_id: int
    tier: int = 1
    slot: int = -1

    def fits(self, class_: int, race: int) -> bool:
        """Return whether new characters of a class and a race get it."""
        return self.class_ in (class_, ANY_CLASS) and self.race in (race, ANY_CLASS)


class ListedSpell(NamedTuple):
    """One spell in the list of a creature."""

    spell_id: int
    tier: int = 1
    on_spawn: bool = False
    on_aggro: bool = False
    health_ratio: int = 0
    """Percent of health from which on it is not cast; below 0 up to which; 0 for always."""
    strengthens: bool = False
    """Whether it is a friendly spell of two states: the creature has it on whenever it rests."""


# -- building -----------------------------------------------------------------------------------


def spell_kinds(source: SpellRows, ids: Sequence[int]) -> dict[int, SpellKind]:
    """Return spells by number; numbers without a spell are left out."""
    tiers: dict[int, dict[int, SpellTier]] = {}
    data = rows_by_tier(source.rows("spell_data", "spell_id", ids))
    effects = rows_by_tier(source.rows("spell_effects", "spell_id", ids))
    for row in source.rows("spell_tiers", "spell_id", ids):
        key = row["spell_id"], row["tier"]
        # Of several rows of one tier the first counts.
        of_spell = tiers.setdefault(row["spell_id"], {})
        if row["tier"] not in of_spell:
            of_spell[row["tier"]] = _tier(row, data.get(key, ()), effects.get(key, ()))
    classes: dict[int, list[ClassLevel]] = {}
    for row in source.rows("spell_classes", "spell_id", ids):
        classes.setdefault(row["spell_id"], []).append(
            ClassLevel(row["class"], row["tradeskill_class"], row["level"], row["classic_level"])
        )
    return {
        row["id"]: _kind(row, tiers.get(row["id"], {}), tuple(classes.get(row["id"], ())))
        for row in source.rows("spells", "id", ids)
    }


def _tier(row: Row, data: Sequence[Row], effects: Sequence[Row]) -> SpellTier:
    return SpellTier(
        number=row["tier"],
        cost=SpellCost(
            row["health"], row["health_percent"], row["power"], row["power_percent"],
            row["savagery"], row["dissonance"], row["concentration"],
        ),
        cast_time=max(0, row["cast_time"]) * CAST_UNIT,
        recovery=max(0.0, row["recovery"]) * RECOVERY_UNIT,
        recast=max(0.0, row["recast"]),
        duration=max(0, row["duration1"]) * DURATION_UNIT,
        longest=max(0, row["duration2"]) * DURATION_UNIT,
        period=max(0, row["call_frequency"]) * DURATION_UNIT,
        range=row["range"], min_range=row["min_range"], radius=row["radius"],
        most_targets=max(0, row["most_targets"]),
        resistibility=row["resistibility"], hit_bonus=row["hit_bonus"],
        given_by=row["given_by"],
        values=tuple(map(script_value, data)),
        lines=tuple(SpellLine(one["text"], one["percentage"], one["bullet"]) for one in effects),
    )  # fmt: skip


def _kind(row: Row, tiers: Mapping[int, SpellTier], classes: tuple[ClassLevel, ...]) -> SpellKind:
    flags = row["casting_flags"]
    return SpellKind(
        id=row["id"], name=row["name"], description=row["description"],
        icon=row["icon"], heroic_icon=row["heroic_icon"], backdrop=row["backdrop"],
        crc=row["crc"], class_skill=row["class_skill"], mastery_skill=row["mastery_skill"],
        min_class_skill=row["min_class_skill"],
        target=_member(SpellTarget, row["target"], SpellTarget.SELF),
        effect=row["effect"], cast_kind=row["cast_kind"], visual=row["visual"],
        success_message=row["success_message"], fade_message=row["fade_message"],
        fade_message_others=row["fade_message_others"], effect_message=row["effect_message"],
        script=_script(row["script"]),
        book=_member(SpellBook, row["book"], SpellBook.HIDDEN),
        is_friendly=bool(row["is_friendly"]), is_group=bool(row["is_group"]),
        only_group=bool(row["only_group"]), affects_raid=bool(row["affects_raid"]),
        shows_tier=bool(row["shows_tier"]), is_interruptable=bool(row["is_interruptable"]),
        casts_while_moving=bool(row["casts_while_moving"]), can_fizzle=bool(row["can_fizzle"]),
        casting_flags=flags if 0 <= flags <= MOST_FLAGS else 0,
        detriment=_member(Detriment, row["detriment"], Detriment.NONE),
        control=row["control"], is_incurable=bool(row["is_incurable"]),
        linked_timer=max(0, row["linked_timer"]), group=max(0, row["group"]),
        is_not_maintained=bool(row["is_not_maintained"]),
        lasts_until_cancelled=bool(row["lasts_until_cancelled"]),
        lasts_through_death=bool(row["lasts_through_death"]), is_active=bool(row["is_active"]),
        tiers=tiers, classes=classes,
    )  # fmt: skip


def _member(kind: type[Any], number: int, usual: Any) -> Any:
    try:
        return kind(number)
    except ValueError:
        return usual


def _script(name: str) -> str:
    """Return the file of a script; rows may leave its suffix out."""
    return name if not name or name.endswith(".lua") or name.startswith(PLAIN) else f"{name}.lua"


# -- TOML files ---------------------------------------------------------------------------------

_PARTS: Final = {"tier": "spell_tiers", "class": "spell_classes"}
_KINDS: Final[Mapping[type, str]] = {bool: "bool", int: "int", float: "float", str: "string"}


class TomlSpells:
    """Spells of TOML files, in the columns of the same tables.

    A table ``[[spell]]`` has the columns of `spells`. Its lists ``tier`` and ``class`` have those
    of `spell_tiers` and `spell_classes`; a tier also has ``values``, the arguments of the script,
    and ``lines``, its description. Numbers that the content file has as well replace its spell.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Raises `FileFormatError`."""
        self.tables: dict[str, dict[int, list[dict[str, Any]]]] = {
            name: {} for name in ("spells", "spell_tiers", "spell_classes", "spell_data",
                                  "spell_effects")
        }  # fmt: skip
        self.starting: list[StartingSpell] = []
        self.lists: dict[int, list[ListedSpell]] = {}
        """The lists of creatures by number; each takes the place of that of the content file."""
        for path in paths:
            document = read_document(path)
            for row in document.get("spell", []):
                self._add(path, row)
            for row in document.get("starting_spell", []):
                self.starting.append(_starting(path, row))
            for row in document.get("creature_spell", []):
                number, listed = _listed(path, row)
                self.lists.setdefault(number, []).append(listed)

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of all spells of the files."""
        return frozenset(self.tables["spells"])

    def _add(self, path: Path, table: Any) -> None:
        values = dict(table) if isinstance(table, dict) else {}
        number = values.get("id")
        if type(number) is not int or not 0 < number <= LARGEST_NUMBER:
            raise FileFormatError(f"{path}: spell: id must be a number above 0")
        for name in self.tables:
            self.tables[name].pop(number, None)
        try:
            parts = {name: values.pop(name, []) for name in _PARTS}
            self._put("spells", number, values)
            for index, row in enumerate(parts["tier"]):
                self._add_tier(number, index, dict(row))
            for index, row in enumerate(parts["class"]):
                self._put("spell_classes", number, {"spell_id": number, "id": index} | row)
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"{path}: spell {number}: {error}") from error

    def _add_tier(self, number: int, index: int, row: dict[str, Any]) -> None:
        values, lines = row.pop("values", []), row.pop("lines", [])
        tier = row.get("tier", 1)
        key = {"spell_id": number, "tier": tier}
        self._put("spell_tiers", number, {"id": index} | key | row)
        for at, value in enumerate(values):
            kind = _KINDS.get(type(value))
            if kind is None:
                raise ValueError(f"values: {value!r} is no usable value")
            stored = {"index": at, "id": at, "kind": kind, "value": str(value)}
            self._put("spell_data", number, key | stored)
        for at, text in enumerate(lines):
            self._put("spell_effects", number, key | {"index": at, "id": at, "text": text})

    def _put(self, table: str, number: int, values: Mapping[str, Any]) -> None:
        columns, row = _columns_of(table), dict(_defaults(table))
        for name, value in values.items():
            if name not in columns:
                raise ValueError(f"{name}: {table} has no such key")
            stored = columns[name].convert(value)
            if stored is None:
                raise ValueError(f"{name}: {value!r} is no usable value")
            row[name] = stored
        self.tables[table].setdefault(number, []).append(row)

    def rows(self, name: str, _column: str, values: Sequence[Any]) -> Iterable[Row]:
        """Yield the rows of a table; see `SpellRows`."""
        table = self.tables.get(name, {})
        return (row for value in values for row in table.get(value, ()))


def _starting(path: Path, row: Any) -> StartingSpell:
    values = dict(row) if isinstance(row, dict) else {}
    try:
        return StartingSpell(
            values.pop("class", ANY_CLASS),
            values.pop("race", ANY_CLASS),
            values.pop("spell"),
            **values,
        )
    except (KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: starting_spell: {error}") from error


def _listed(path: Path, row: Any) -> tuple[int, ListedSpell]:
    values = dict(row) if isinstance(row, dict) else {}
    try:
        number, spell = int(values.pop("list")), int(values.pop("spell"))
        return number, ListedSpell(spell, **values)
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: creature_spell: {error}") from error


@cache
def _columns_of(table: str) -> Mapping[str, Column]:
    return {column.name: column for column in content_tables()[table].columns}


@cache
def _defaults(table: str) -> Mapping[str, Any]:
    # An own spell is active unless its row says otherwise.
    own = {"is_active": 1} if table == "spells" else {}
    return {name: column.default for name, column in _columns_of(table).items()} | own


def shipped_spells() -> Path:
    """Return the file of the spells that come with the server."""
    return data_file("world", "spells.toml")


# -- the spells of a world ----------------------------------------------------------------------


class SpellKinds(KindsByNeed[SpellKind]):
    """The spells of one world; any thread may call it."""

    def __init__(self, content: Path | None = None, layer: TomlSpells | None = None) -> None:
        super().__init__(content, MOST_REMEMBERED)
        self._reading = Lock()
        """Held while what classes learn is read, so that two threads do not both read it."""
        self._opportunities: HeroicTable | None = None
        self._layer = layer or TomlSpells()
        self._learned: Mapping[int, tuple[Learned, ...]] | None = None
        self._lists: dict[int, tuple[ListedSpell, ...]] | None = None
        self._errors: dict[int, list[tuple[int, int]]] | None = None
        self._starting: tuple[StartingSpell, ...] | None = None
        self._pet_names: tuple[str, ...] | None = None

    def reload(self, content: Path | None, layer: TomlSpells | None = None) -> None:
        """Read from another file, or from the changed one; spells are read anew."""
        with self._lock:
            self._start_over(content)
            self._layer = layer or self._layer
            self._lists = self._learned = self._errors = self._starting = None
            self._pet_names = None
            self._opportunities = None

    def lacks(self, numbers: Iterable[int]) -> bool:
        """Return whether a character with some spells needs what is not read yet."""
        tables_are_read = self._learned is not None and self._starting is not None
        return not tables_are_read or any(one not in self._known for one in numbers)

    def prepare(self, numbers: Iterable[int]) -> None:
        """Read some spells, and the tables by which players gain them."""
        self.load(numbers)
        self.learned(())
        self.listed(0)
        self.starting(ANY_CLASS, ANY_CLASS)
        self.pet_names()

    def _found(self, numbers: Sequence[int]) -> Mapping[int, SpellKind]:
        below, own = self._below_and_own(numbers)
        file = self._opened()
        found = spell_kinds(file, below) if file is not None and below else {}
        return found | spell_kinds(self._layer, own)

    def _below_and_own(self, numbers: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return those of the content file, and those that the layer has."""
        own = self._layer.numbers
        return [one for one in numbers if one not in own], [one for one in numbers if one in own]

    # -- gaining ------------------------------------------------------------------------------

    def learned(self, classes: Iterable[int]) -> tuple[Learned, ...]:
        """Return the spells that classes learn by themselves as they rise."""
        table = self._learned
        if table is None:
            with self._reading:
                table = self._learned_or_read()
        return tuple(one for class_ in dict.fromkeys(classes) for one in table.get(class_, ()))

    def _learned_or_read(self) -> Mapping[int, tuple[Learned, ...]]:
        """Return what classes learn, read from a file of its own.

        It takes some tenths of a second. Others must not wait so long for a single spell.
        """
        while True:
            with self._lock:
                path, layer, table = self._path, self._layer, self._learned
            if table is not None:
                return table
            table = _learned_of(path, layer)
            with self._lock:
                # `reload` may have set another file meanwhile.
                if (path, layer) == (self._path, self._layer):
                    self._learned = table

    def starting(self, class_: int, race: int) -> tuple[StartingSpell, ...]:
        """Return the spells of new characters of a class and a race."""
        with self._lock:
            if self._starting is None:
                file = self._opened()
                rows = file.table("starting_spells") if file is not None else ()
                of_file = [
                    StartingSpell(
                        row["class"], row["race"], row["spell_id"], max(1, row["tier"]), row["slot"]
                    )
                    for row in rows
                ]
                self._starting = (*of_file, *self._layer.starting)
            table = self._starting
        return tuple(one for one in table if one.fits(class_, race))

    # -- creatures ----------------------------------------------------------------------------

    def listed(self, number: int) -> tuple[ListedSpell, ...]:
        """Return the list of spells of creatures by its number."""
        with self._lock:
            if self._lists is None:
                self._lists = self._all_lists()
            return self._lists.get(number, ())

    def _all_lists(self) -> dict[int, tuple[ListedSpell, ...]]:
        found: dict[int, list[ListedSpell]] = {}
        file = self._opened()
        for row in file.table("npc_spells") if file is not None else ():
            found.setdefault(row["list_id"], []).append(
                ListedSpell(
                    row["spell_id"], row["tier"], bool(row["on_spawn"]), bool(row["on_aggro"]),
                    row["health_ratio"],
                )
            )  # fmt: skip
        found |= self._layer.lists
        numbers = sorted({one.spell_id for rows in found.values() for one in rows})
        below, own = self._below_and_own(numbers)
        spells = [
            *(file.rows("spells", "id", below) if file is not None and below else ()),
            *self._layer.rows("spells", "id", own),
        ]
        stances = {row["id"] for row in spells if row["is_friendly"] and row["cast_kind"] == TOGGLE}
        return {
            number: tuple(one._replace(strengthens=one.spell_id in stances) for one in rows)
            for number, rows in found.items()
        }

    def pet_names(self) -> tuple[str, ...]:
        """Return the names that pets can get, in the order of their numbers."""
        with self._lock:
            if self._pet_names is None:
                file = self._opened()
                rows = file.table("pet_names") if file is not None else ()
                names = [row["name"].strip() for row in rows]
                self._pet_names = tuple(
                    one for one in names if one.isprintable() and 0 < len(one) <= LONGEST_PET_NAME
                )
            return self._pet_names

    def opportunities(self) -> HeroicTable:
        """Return what starts heroic opportunities, and their wheels."""
        with self._lock:
            if self._opportunities is None:
                self._opportunities = self._all_opportunities()
            return self._opportunities

    def _all_opportunities(self) -> HeroicTable:
        file = self._opened()
        rows = list(file.table("heroic_opportunities")) if file is not None else []
        return HeroicTable(
            tuple(
                HeroicStarter(row["id"], row["starter_class"], row["starter_icon"], row["ability1"])
                for row in rows if row["kind"] == "starter"
            ),
            tuple(
                HeroicWheel(
                    row["id"], row["starter"], bool(row["in_order"]), row["shift_icon"],
                    row["spell_id"], row["chance"], _abilities(row),
                )
                for row in rows if row["kind"] == "wheel" and _abilities(row)
            ),
        )  # fmt: skip

    def error_code(self, version: int, index: int) -> int | None:
        """Return what a client version shows for an error of a script; None if unknown."""
        with self._lock:
            if self._errors is None:
                self._errors = {}
                file = self._opened()
                for row in file.table("spell_errors") if file is not None else ():
                    self._errors.setdefault(row["index"], []).append((row["version"], row["value"]))
            rows = [one for one in self._errors.get(index, ()) if one[0] <= version]
        return max(rows)[1] if rows else None


def _abilities(row: Row) -> tuple[int, ...]:
    """Return the heroic icons that a wheel asks for."""
    icons = (row[f"ability{at}"] for at in range(1, ABILITIES + 1))
    return tuple(icon for icon in icons if 0 <= icon < NO_ABILITY)


def _learned_of(path: Path | None, layer: TomlSpells) -> dict[int, tuple[Learned, ...]]:
    """Return what each class learns by a content file and a layer."""
    found: dict[int, list[Learned]] = {}
    if path is not None:
        with ContentFile(path) as file:
            rows = [one for one in file.table("spell_classes") if one["class"] != ANY_CLASS]
            # Most spells have several tiers, so all first tiers are less than those of the spells.
            first = file.rows("spell_tiers", "tier", (1,))
            ids = {row["spell_id"] for row in rows} - layer.numbers
            usable = _usable(file, first, ids)
        for row in rows:
            if row["spell_id"] in usable:
                _add_learned(found, row)
    tiers = layer.rows("spell_tiers", "spell_id", sorted(layer.numbers))
    for number in _usable(layer, tiers, layer.numbers):
        for row in layer.tables["spell_classes"].get(number, ()):
            if row["class"] != ANY_CLASS:
                _add_learned(found, row)
    return {class_: tuple(of) for class_, of in found.items()}


def _usable(source: SpellRows, tiers: Iterable[Row], ids: AbstractSet[int]) -> frozenset[int]:
    """Return those of some spells that a class gives without a scroll."""
    by_number: dict[int, str] = {}
    for row in tiers:
        if row["tier"] == 1:
            by_number.setdefault(row["spell_id"], row["given_by"])
    given = sorted(number for number, by in by_number.items() if by in GIVEN and number in ids)
    return frozenset(
        row["id"] for row in source.rows("spells", "id", given)
        if row["is_active"] and row["script"]
    )  # fmt: skip


def _add_learned(found: dict[int, list[Learned]], row: Row) -> None:
    found.setdefault(row["class"], []).append(
        Learned(row["spell_id"], row["level"], row["classic_level"])
    )
