"""Zone files: the classes of their tables, and their reading into definitions.

Operators write these files by hand, so a fault is a `FileFormatError` with file, row and key.
Every value is checked when the file is read, not when a player comes near the spawn. Appearance
values (``looks``) are tried on the structs of every client version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final
from unicodedata import category

from attrs import Factory, frozen

from emu.dialects.dialect import fit, wire_name
from emu.errors import EmuError, FileFormatError
from emu.schema import (
    LARGEST_NUMBER,
    LONGEST_NAME,
    LONGEST_TEXT,
    Reader,
    TextBytes,
    TomlSource,
    field,
    problem,
    read_rows,
    read_table,
)
from emu.structs import StructLayout, shipped_catalog
from emu.world.actors.dealings import NOTHING, Dealing, MerchantKind, NodeSkill
from emu.world.actors.spawn import (
    DIFFICULTY,
    Destination,
    Footer,
    Pose,
    SpawnKind,
    SpawnTemplate,
    Verb,
)
from emu.world.population.nodes import verbs_of_device, verbs_of_node
from emu.world.visibility.forms import read_rules
from emu.world.zones.definitions import (
    LONGEST_RESPAWN,
    PLACE,
    RESPAWN,
    Fixture,
    Start,
    ZoneDefinition,
    table_form,
)
from emu.world_stream.movement import Position

INFO: Final = "Substruct_SpawnInfoStruct"


def check_appearance(looks: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the value of ``looks`` if every client version can be sent it, else `ValueError`."""
    for name, value in looks.items():
        # Lists cannot be keys of the cache, so they become tuples.
        if complaint := _complaint(name, _hashable(value)):
            raise ValueError(f"looks: {complaint}")
    return looks


def check_texts(**texts: str) -> None:
    """Check names and titles by their fields in the ghost. Raises `ValueError`."""
    # Control characters would break lines in the client's windows.
    for name, text in texts.items():
        if any(category(letter) == "Cc" for letter in text):
            raise ValueError(f"{name} has control characters; remove them")
        if complaint := _complaint(name, wire_name(text)):
            raise ValueError(complaint)


def check_words(words: Sequence[Any]) -> frozenset[str]:
    """Return status words that a client version knows. Raises `ValueError`."""
    for word in words:
        if word not in _words():
            raise ValueError(f"words: unknown word {word!r}; use {', '.join(sorted(_words()))}")
    return frozenset(words)


@cache
def _words() -> frozenset[str]:
    return read_rules().words


@cache
def _layouts() -> tuple[tuple[StructLayout, Mapping[str, Any]], ...]:
    """Return each layout of a ghost's info, with the zero values of its fields."""
    # Layouts change only between these ranges, so the last version of each stands for all of it.
    layouts = [shipped_catalog().layout(INFO, version) for version in read_rules().last_versions]
    # The zeros show the type of each field to `fit`.
    return tuple((layout, layout.decode(layout.encode({}))) for layout in layouts)


@cache
def appearance_fields() -> frozenset[str]:
    """Return the names of all fields of a ghost's info, of any client version."""
    return frozenset(name for _layout, zero in _layouts() for name in zero)


def _hashable(value: Any) -> Any:
    """Return a value as a key of the cache; a table is no appearance value."""
    if isinstance(value, dict):
        raise ValueError("must be a number, a text or a list")  # noqa: TRY004  # joins the faults
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


@lru_cache(maxsize=4096)
def _complaint(name: str, value: Any) -> str:
    """Try one field on every layout; return the fault or "".

    A value that does not fit a client's field must be found here. Otherwise it would raise while a
    zone is encoded, when a player comes near. Spawns of a zone share most values, so the results
    are cached.
    """
    # A field that only some versions have is fine: the others leave it out.
    known = [(layout, zero[name]) for layout, zero in _layouts() if name in zero]
    if not known:
        return f"there is no appearance field {name!r}"
    for layout, zero in known:
        try:
            layout.encode({name: fit(zero, value)}, strict=True)
        except (EmuError, IndexError) as error:
            return f"{name} does not fit: {error}"
    return ""


FilePlace = TomlSource | Path
"""The file in which tables stand, or, without lines in faults, are going to stand."""
Find = Callable[[str], int]
"""Turns a zone's name, file or number into its number. Raises `ValueError`."""

MOST_FIXTURES: Final = 15_000
"""Fixtures of one zone; the rest of the spawns that a zone may hold is for players."""
LARGEST_SIZE: Final = 0x7FFF
LONGEST_VERB: Final = 255
LONGEST_ID: Final = 64
"""Characters of a spawn's `id`."""
VERB_DISTANCE: Final = 10.0
MOST_VERBS: Final = 0xFF
STATES: Final = ("visual_state", "action_state", "mood_state", "emote_state")
KINDS: Final = {kind.value: kind for kind in SpawnKind if kind is not SpawnKind.PLAYER}
FOOTED: Final = frozenset((SpawnKind.SIGN, SpawnKind.WIDGET))
"""Kinds that have a footer."""


def _zone_reference(value: Any) -> int | str:
    """Return a zone's number, name or file; a number need not be that of a known zone."""
    # Names are resolved later, when all zones are known.
    if isinstance(value, str):
        return value
    if type(value) is not int:
        raise ValueError("must be a zone's name, file or number")
    if not 0 < value <= LARGEST_NUMBER:
        raise ValueError(f"must be from 1 to {LARGEST_NUMBER}")
    return value


def _zone_id(zone: int | str, find: Find) -> int:
    return zone if isinstance(zone, int) else find(zone)


def _looks(value: Any) -> dict[str, Any]:
    looks = table_form(value)
    # All faults of the table at once, so that the operator corrects them in one pass.
    complaints = [_complaint(name, _hashable(one)) for name, one in looks.items()]
    if any(complaints):
        raise ValueError("; ".join(one for one in complaints if one))
    return looks


def _client_text(name: str) -> Reader:
    """Return the reader of a text that clients show in a field of this name."""
    size = TextBytes(LONGEST_TEXT)

    def read(value: Any) -> str:
        text = size(value)
        check_texts(**{name: text})
        return text

    return read


def _versions(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or any(type(one) is not int for one in value):
        raise ValueError("must be [first, last]")
    return value[0], value[1]


def _state() -> Any:
    return field(None, limits=(0, 0xFFFF))


SAME: Final = (
    "name", "last_name", "prefix", "suffix", "level", "size", "collision_radius", "attackable",
    "show_level", "show_commands", "hand_icon", "icon", "difficulty", "heroic", "faction", "hovers",
    "swims", "position_state",
)  # fmt: skip
"""The keys of a spawn that its template has under the same name and in the same form."""


@frozen
class VerbRow:
    """One entry of a spawn's ``verbs``."""

    name: str = field(form=TextBytes(LONGEST_VERB))
    distance: float = field(VERB_DISTANCE)
    command: str | None = field(None, form=TextBytes(LONGEST_VERB))
    error: str = field("", form=TextBytes(LONGEST_VERB))
    cast_time: float = field(0.0)
    visual: int = field(0)

    def verb(self) -> Verb:
        """Return the verb; without a command its name is the command."""
        command = self.command
        if command is None:
            command = self.name.lower().replace(" ", "_")
        return Verb(
            self.name, self.distance, command, self.error, max(0.0, self.cast_time), self.visual
        )


@frozen
class DestinationRow:
    """``to``: where a spawn leads."""

    zone: int | str = field(form=_zone_reference)
    place: Position | None = field(None, form=PLACE)


@frozen
class WidgetRow:
    """``widget``: the number and place of a sign or widget."""

    id: int = field(0)
    place: Position | None = field(None, form=PLACE)
    with_heading: bool = field(True)
    with_place: bool = field(True)


@frozen
class SignRow:
    """``sign``: the text of a sign."""

    title: str = field("")
    text: str = field("")
    distance: float = field(VERB_DISTANCE)
    show: bool = field(True)
    language: int = field(0, limits=(0, 0xFF))


@frozen
class DealingRow:
    """``trade``: what a spawn sells, repairs and leaves behind."""

    number: int = field(0, limits=(0, LARGEST_NUMBER))
    merchant: int = field(0, limits=(0, LARGEST_NUMBER))
    merchant_kind: int = field(0, limits=(0, 0x7F))
    levels: tuple[int, int] = field((0, 0))
    loot: tuple[int, ...] = field(())
    loot_tier: int = field(0, limits=(0, 0xFF))
    model: int = field(0, limits=(0, 0xFFFFFFFF))
    node: int = field(0, limits=(0, LARGEST_NUMBER))
    node_skill: str = field("", choices=tuple(NodeSkill))
    node_uses: int = field(3, limits=(1, 0xFF))
    node_tries: int = field(1, limits=(1, 0xFF))
    device: int = field(0, limits=(0, 0xFF))
    loot_drop_kind: int = field(0, limits=(0, 0xFF))

    def dealing(self) -> Dealing:
        """Return what the table says."""
        return Dealing(
            self.number, self.merchant, MerchantKind(self.merchant_kind), self.levels, self.loot,
            self.loot_tier, self.model, self.node, NodeSkill(self.node_skill), self.node_uses,
            self.node_tries, self.device, self.loot_drop_kind,
        )  # fmt: skip


@frozen
class SpawnRow:
    """One ``[[spawn]]`` table of a zone file."""

    kind: str = field(choices=tuple(KINDS))
    name: str = field(form=_client_text("name"))
    place: Position = field(form=PLACE)
    id: str = field("", limits=(1, LONGEST_ID))
    """The word by which the server recognizes it after a reload, a restart or a change of name."""
    grid: int = field(0)
    last_name: str = field("", form=_client_text("last_name"))
    prefix: str = field("", form=_client_text("prefix"))
    suffix: str = field("", form=_client_text("suffix"))
    title: str = field("", form=_client_text("guild"))
    level: int = field(1, limits=(1, 255))
    size: int = field(32, limits=(1, LARGEST_SIZE))
    collision_radius: int = field(32, limits=(0, LARGEST_SIZE))
    model: int | None = field(None, limits=(0, 0xFFFF))
    looks: Mapping[str, Any] = field(Factory(dict), form=_looks)
    words: tuple[str, ...] = field(())
    verbs: tuple[VerbRow, ...] = field((), most=MOST_VERBS)
    more_verbs: tuple[VerbRow, ...] = field((), most=MOST_VERBS)
    attackable: bool = field(False)
    targetable: bool | None = field(None)
    show_name: bool | None = field(None)
    show_level: bool | None = field(None)
    show_commands: bool | None = field(None)
    hand_icon: int = field(0, limits=(0, 0xFF))
    icon: int = field(0, limits=(0, 0x3F))
    difficulty: int = field(DIFFICULTY, limits=(0, 0xFF))
    heroic: int = field(0, limits=(0, 4))
    faction: int = field(0, limits=(0, LARGEST_NUMBER))
    hovers: bool = field(False)
    swims: bool = field(False)
    position_state: int | None = field(None, limits=(0, 0xFFFF))
    visual_state: int | None = _state()
    action_state: int | None = _state()
    mood_state: int | None = _state()
    emote_state: int | None = _state()
    to: DestinationRow | None = field(None)
    widget: WidgetRow | None = field(None)
    sign: SignRow | None = field(None)
    trade: DealingRow | None = field(None)
    respawn: int = field(RESPAWN, limits=(0, LONGEST_RESPAWN))
    behavior: str = field("")
    behavior_options: Mapping[str, Any] = field(Factory(dict), form=table_form)

    def fixture(self, find: Find) -> Fixture:
        """Return the fixture. Raises `ValueError` for a value that does not fit the others."""
        kind = KINDS[self.kind]
        # The cell of the map has a key of its own.
        place = self.place._replace(grid=self.grid)
        looks = dict(self.looks)
        if self.model is not None:
            # `looks` wins over the short form, so a file can set the alternate model alone.
            looks = {"model_type": self.model, "soga_model_type": self.model} | looks
        destination = None
        if self.to is not None:
            destination = Destination(_zone_id(self.to.zone, find), self.to.place)
        verbs = tuple(row.verb() for row in self.verbs)
        if destination is not None and not verbs:
            # Without a verb, a client could not use the portal.
            verbs = (Verb("Use", VERB_DISTANCE, "use"),)
        dealing = NOTHING if self.trade is None else self.trade.dealing()
        verbs = verbs_of_device(dealing, verbs_of_node(dealing, verbs))
        states = {name: getattr(self, name) for name in STATES}
        pose = Pose(**{name: value for name, value in states.items() if value is not None})
        template = SpawnTemplate(
            kind=kind,
            guild=self.title,
            appearance=looks,
            words=check_words(self.words),
            verbs=verbs,
            more_verbs=tuple(row.verb() for row in self.more_verbs),
            footer=self._footer(kind, place),
            # Signs and widgets are used, and not targeted.
            targetable=kind not in FOOTED if self.targetable is None else self.targetable,
            # Creatures usually show their name, things do not.
            show_name=kind is SpawnKind.NPC if self.show_name is None else self.show_name,
            pose=pose,
            destination=destination,
            dealing=dealing,
            **{name: getattr(self, name) for name in SAME},
        )
        return Fixture(
            template, place, self.behavior, self.behavior_options, self.id, respawn=self.respawn
        )

    def _footer(self, kind: SpawnKind, place: Position) -> Footer | None:
        """Return the footer of a sign or widget; other kinds must not have its keys."""
        if self.widget is not None and kind not in FOOTED:
            raise ValueError("widget: only a sign or widget has this key")
        if self.sign is not None and kind is not SpawnKind.SIGN:
            raise ValueError("sign: only a sign has this key")
        if kind not in FOOTED:
            return None
        widget = self.widget or WidgetRow()
        # Without a place of its own, the widget is where its spawn is.
        at = widget.place or place
        sign = self.sign or SignRow(distance=VERB_DISTANCE if kind is SpawnKind.SIGN else 0.0)
        return Footer(
            widget.id, at.x, at.y, at.z,
            title=sign.title, description=sign.text, distance=sign.distance,
            show=sign.show, language=sign.language,
            with_heading=widget.with_heading, with_place=widget.with_place,
        )  # fmt: skip


def _conditions(key: str) -> Any:
    return field(frozenset(), limits=(-LARGEST_NUMBER, LARGEST_NUMBER), key=key)


@frozen
class StartRow:
    """One ``[[start]]`` table."""

    zone: int | str = field(form=_zone_reference)
    place: Position | None = field(None, form=PLACE)
    classes: frozenset[int] = _conditions("class")
    races: frozenset[int] = _conditions("race")
    cities: frozenset[int] = _conditions("city")
    deities: frozenset[int] = _conditions("deity")
    versions: tuple[int, int] | None = field(None, form=_versions)

    def start(self, find: Find) -> Start:
        """Return the starting place. Raises `ValueError` for an unknown zone."""
        return Start(
            _zone_id(self.zone, find), self.place, self.classes, self.races, self.cities,
            self.deities, self.versions,
        )  # fmt: skip


def read_zone(source: FilePlace, rows: object) -> ZoneDefinition:
    """Return the zone that a file's ``[zone]`` describes. Raises `FileFormatError`."""
    return read_table(ZoneDefinition, rows, source, "zone")


def read_fixtures(source: FilePlace, rows: object, find: Find) -> tuple[Fixture, ...]:
    """Return the fixtures of a file's ``[[spawn]]`` tables. Raises `FileFormatError`."""
    # Checked before the rows are read, which would take long.
    if isinstance(rows, list) and len(rows) > MOST_FIXTURES:
        raise FileFormatError(f"{source}: spawn: must be up to {MOST_FIXTURES} [[spawn]] tables")
    made = read_rows(SpawnRow, rows, source, "spawn", lambda row: row.fixture(find))
    if not isinstance(source, TomlSource):
        return tuple(made)
    # The file and row are kept for the faults that `content_faults` finds later.
    return tuple(replace(one, source=source, row=row) for row, one in enumerate(made))


def with_keys(fixtures: Sequence[Fixture]) -> tuple[tuple[Fixture, ...], list[str]]:
    """Return a zone's fixtures, each with a key of its own, and a line for each fault.

    Without an `id` the key is the name; the second spawn of a name gets ``NAME#2``. It is a fault
    if two fixtures have the same `id`.
    """
    # Two passes: an `id` must not be taken by the name of an earlier spawn.
    first: dict[str, Fixture] = {}
    problems = []
    for one in fixtures:
        if one.key and first.setdefault(one.key, one) is not one:
            other = first[one.key].template.name
            text = f"id: {one.key!r} is also the id of another spawn ({other})"
            problems.append(problem_of(one, ("id",), text))
    taken, count = set(first), Counter[str]()
    keyed = []
    for one in fixtures:
        key = one.key
        # A loop, because NAME#2 may be the name or id of another spawn.
        while not key:
            name = one.template.name
            count[name] += 1
            number = count[name]
            key = name[:LONGEST_ID] if number == 1 else f"{name[:LONGEST_ID]}#{number}"
            key = "" if key in taken else key
        taken.add(key)
        keyed.append(one if one.key else replace(one, key=key))
    return tuple(keyed), problems


def problem_of(fixture: Fixture, path: Sequence[str | int], text: str) -> str:
    """Return the line about a fault of a fixture: its file, the line of a key, and the text."""
    row = f"spawn {fixture.row + 1} ({fixture.template.name[:LONGEST_NAME]})"
    return problem(fixture.source, ("spawn", fixture.row, *path), f"{row}: {text}")


def read_starts(source: FilePlace, rows: object, find: Find) -> tuple[Start, ...]:
    """Return the starting places of a file's ``[[start]]`` tables. Raises `FileFormatError`."""
    return tuple(read_rows(StartRow, rows, source, "start", lambda row: row.start(find)))
