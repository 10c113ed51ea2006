"""Appearance and verbs of the content file's spawns: rows become templates and spawns.

The import has checked every value, so a template is converted and not checked again: a zone of
thousands of spawns must open at once. Source: docs/guides/content.md#looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from emu.appearance import SLIDER_FIELDS
from emu.content.file import Template
from emu.content.rows import Row
from emu.content.standing import Standing
from emu.errors import FileFormatError
from emu.world.actors.dealings import Dealing, MerchantKind, NodeSkill
from emu.world.actors.spawn import (
    SPAWN_COMMANDS,
    TRIPLE_FIELDS,
    Footer,
    Pose,
    Spawn,
    SpawnKind,
    SpawnTemplate,
    Verb,
)
from emu.world.population.files import LARGEST_SIZE, appearance_fields
from emu.world.population.nodes import verbs_of_device, verbs_of_node
from emu.world.population.strength import fill_sheet
from emu.world.visibility.fields import heading_units
from emu.world_stream.movement import Position

EQUIPMENT_SLOTS: Final = 25
BLACK: Final = (0, 0, 0)
LARGEST_MODEL: Final = 0xFFFF
"""Clients before 57080 have 16 bits for the number of a model."""
LONGEST_NAME: Final = 63
"""Bytes of a name that clients up to 561 can hold."""
HUNDREDTHS: Final = 100.0
"""Times of verbs are in hundredths of a second."""
HAIR: Final = 1119, 1140
BEARDS: Final = 1164, 1191
"""The first and last number of the models that every client has."""

KINDS: Final = {
    "npcs": SpawnKind.NPC,
    "objects": SpawnKind.OBJECT,
    "grounds": SpawnKind.GROUND,
    "signs": SpawnKind.SIGN,
    "widgets": SpawnKind.WIDGET,
}
_MODELS: Final = {
    "hair_type_id": "hair",
    "facial_hair_type_id": "facial_hair",
    "wing_type_id": "wings",
    "chest_type_id": "chest",
    "legs_type_id": "legs",
    "soga_hair_type_id": "soga_hair",
    "soga_facial_hair_type_id": "soga_facial_hair",
    "soga_model_type": "soga_model",
    "gender": "gender",
    "class": "class",
}
"""Fields of a ghost's info -> columns of `npcs`."""
_SLIDERS: Final = frozenset(SLIDER_FIELDS.values())
_NUMBERS: Final = frozenset(("body_size", "body_age", "soga_body_size", "soga_body_age"))
"""Fields of which a row's first number is the value."""


# -- templates ----------------------------------------------------------------------------------


def template_of(template: Template, commands: Mapping[int, Iterable[Row]]) -> SpawnTemplate:
    """Return what all spawns of one number share.

    `commands` are lists of verbs by their number. Raises `FileFormatError` for a spawn that no
    client can be shown.
    """
    spawn, own, kind = template.spawn, template.own, KINDS[template.kind]
    looks = {"model_type": min(spawn["model"], LARGEST_MODEL), "race": spawn["race"]}
    states = {"visual_state": spawn["visual_state"]}
    more: dict[str, Any] = {}
    if kind is SpawnKind.NPC:
        looks |= _appearance(template)
        states |= {name: own[name] for name in ("action_state", "mood_state", "emote_state")}
        more = {
            "difficulty": own["difficulty"],
            "heroic": own["heroic"],
            "position_state": own["initial_state"],
            "hovers": bool(own["flying"] or own["water"]),
            "swims": bool(own["water"] and not own["flying"]),
            "words": frozenset(("hide_hood",) if own["hides_hood"] else ()),
        }
    elif kind in (SpawnKind.SIGN, SpawnKind.WIDGET):
        more = {"footer": _footer(kind, own), "icon": own["icon"]}
    dealing = _dealing(template, kind)
    return SpawnTemplate(
        kind=kind,
        name=_name(spawn["name"]),
        last_name=_name(spawn["last_name"]),
        prefix=_name(spawn["prefix"]),
        suffix=_name(spawn["suffix"]),
        guild=_name(spawn["subtitle"]),
        size=min(spawn["size"] or 32, LARGEST_SIZE),
        collision_radius=spawn["collision_radius"] or 32,
        appearance={name: value for name, value in looks.items() if value},
        verbs=verbs_of_device(
            dealing, verbs_of_node(dealing, verbs_of(commands.get(spawn["commands"], ())))
        ),
        more_verbs=verbs_of(commands.get(spawn["more_commands"], ())),
        attackable=bool(spawn["is_attackable"]),
        targetable=bool(spawn["is_targetable"]),
        show_name=bool(spawn["shows_name"]),
        show_level=bool(spawn["shows_level"]),
        show_commands=bool(spawn["shows_command_icon"]),
        hand_icon=spawn["hand_icon"],
        faction=spawn["faction"],
        pose=Pose(**states),
        dealing=dealing,
        **more,
    )


def _dealing(template: Template, kind: SpawnKind) -> Dealing:
    """Return what a spawn sells, gives and leaves behind."""
    spawn, own = template.spawn, template.own
    made = Dealing(
        template.id,
        spawn["merchant"],
        MerchantKind(spawn["merchant_kind"]),
        (spawn["merchant_min_level"], spawn["merchant_max_level"]),
        loot_tier=spawn["loot_tier"],
        model=spawn["model"],
        loot_drop_kind=spawn["loot_drop_kind"],
    )
    if kind is SpawnKind.GROUND and own["skill"] in set(NodeSkill):
        return made._replace(
            node=own["ground_id"], node_skill=NodeSkill(own["skill"]),
            node_uses=max(1, own["harvests"]), node_tries=max(1, own["attempts"]),
        )  # fmt: skip
    if kind is SpawnKind.OBJECT:
        return made._replace(device=own["device"])
    return made


def _name(text: str) -> str:
    """Return a name as clients can show it. Raises `FileFormatError`."""
    if not text.isprintable():
        # Control characters would break lines in the client's windows.
        raise FileFormatError(f"the name {text!r} has letters that cannot be shown")
    return text if len(text) <= LONGEST_NAME else text[:LONGEST_NAME]


def verbs_of(commands: Iterable[Row]) -> tuple[Verb, ...]:
    """Return the verbs of a list of commands of the content file."""
    return tuple(
        Verb(
            one["text"],
            one["distance"],
            one["command"],
            # Some rows say "0" where they have no text.
            one["error"] if one["error"] != "0" else "",
            max(0, one["cast_time"]) / HUNDREDTHS,
            one["visual"],
            is_command=one["command"].casefold() in SPAWN_COMMANDS,
        )
        for one in commands
        # A command without a text could not be shown.
        if one["text"]
    )


def _footer(kind: SpawnKind, own: Row) -> Footer:
    is_sign = kind is SpawnKind.SIGN
    return Footer(
        own["widget_id"], own["widget_x"], own["widget_y"], own["widget_z"],
        title=own["title"] if is_sign else "",
        description=own["description"] if is_sign else "",
        distance=own["distance"] if is_sign else 0.0,
        language=own["language"] & 0xFF if is_sign else 0,
        with_heading=bool(own["with_heading"]), with_place=bool(own["with_location"]),
    )  # fmt: skip


def _appearance(template: Template) -> dict[str, Any]:
    """Return the fields of a ghost's info that every client version can be sent."""
    own, known = template.own, appearance_fields()
    fields: dict[str, Any] = {name: own[column] for name, column in _MODELS.items()}
    for name, numbers in template.appearance.items():
        field = TRIPLE_FIELDS.get(name, name)
        if field not in known:
            continue
        if field in _NUMBERS:
            fields[field] = _signed(numbers[0])
        elif field in _SLIDERS:
            fields[field] = tuple(_signed(one) for one in numbers)
        else:
            fields[field] = tuple(one & 0xFF for one in numbers)
    if template.equipment:
        fields |= _equipment(template)
    return fields


def _signed(number: int) -> int:
    """Return a slider: rows write negative ones also as a byte without a sign."""
    return number - 256 if number > 127 else number


def _equipment(template: Template) -> dict[str, Any]:
    models = [0] * EQUIPMENT_SLOTS
    # Tuples that slots share: a large zone has hundreds of templates, each with 50 colors.
    colors: list[tuple[int, ...]] = [BLACK] * EQUIPMENT_SLOTS
    highlights: list[tuple[int, ...]] = [BLACK] * EQUIPMENT_SLOTS
    for row in template.equipment:
        slot = row["slot"]
        models[slot] = row["model"] if row["model"] <= LARGEST_MODEL else 0
        colors[slot] = row["red"], row["green"], row["blue"]
        highlights[slot] = tuple(row[f"highlight_{name}"] for name in ("red", "green", "blue"))
    return {
        "equipment_types": tuple(models),
        "equipment_colors": tuple(colors),
        "equipment_highlights": tuple(highlights),
    }


# -- spawns -------------------------------------------------------------------------------------


def spawn_of(template: SpawnTemplate, standing: Standing, spawn_id: int) -> Spawn:
    """Return the spawn that stands at a placement: its template with what was rolled for it."""
    placement = standing.placement
    place = Position(standing.x, standing.y, standing.z, turned(standing.heading), placement.grid)
    spawn = Spawn.of(template, spawn_id, place)
    spawn.level = standing.level
    spawn.size = min(standing.size, LARGEST_SIZE)
    # Clients turn from the opposite of the data's zero; 0 itself means upright.
    spawn.pitch = heading_units(placement.pitch) if placement.pitch else 0
    spawn.roll = heading_units(placement.roll) if placement.roll else 0
    if standing.seed:
        bits = standing.template.own["randomize"]
        spawn.appearance = RolledLooks(spawn.appearance, bits, standing.seed)
    fill_sheet(spawn, standing)
    return spawn


def turned(heading: float) -> float:
    """Return a heading as one of 0 to 360 degrees; nearly all are, and stay the same object."""
    return heading if 0.0 <= heading < 360.0 else heading % 360.0


class Rolls:
    """Numbers that follow from one long random number: a spawn is rolled by its zone's chances."""

    def __init__(self, seed: int) -> None:
        self._rest = seed

    def between(self, first: int, last: int) -> int:
        """Return the next number, from the first to the last."""
        self._rest, found = divmod(self._rest, last - first + 1)
        return first + found


Roll = Callable[[Rolls], Any]


def _slider(rolls: Rolls) -> tuple[int, ...]:
    return tuple(rolls.between(-100, 100) for _ in range(3))


def _color(rolls: Rolls) -> tuple[int, ...]:
    return tuple(rolls.between(0, 255) for _ in range(3))


def _one_of(first: int, last: int) -> Roll:
    return lambda rolls: rolls.between(first, last)


@cache
def _rolls() -> tuple[tuple[int, tuple[str, ...], Roll], ...]:
    """Return the bits of `randomize`, with the fields that each rolls, and how."""
    hair, face = _one_of(*HAIR), _one_of(*BEARDS)
    return (
        (0x1, ("gender",), _one_of(1, 2)),
        (0x8, ("facial_hair_type_id", "soga_facial_hair_type_id"), face),
        (0x10, ("hair_type_id", "soga_hair_type_id"), hair),
        (0x80, ("cheek_type", "soga_cheek_type"), _slider),
        (0x100, ("chin_type", "soga_chin_type"), _slider),
        (0x200, ("ear_type", "soga_ear_type"), _slider),
        (0x400, ("eye_brow_type", "soga_eye_brow_type"), _slider),
        (0x800, ("eye_type", "soga_eye_type"), _slider),
        (0x1000, ("lip_type", "soga_lip_type"), _slider),
        (0x2000, ("nose_type", "soga_nose_type"), _slider),
        (0x4000, ("eye_color", "soga_eye_color"), _color),
        (0x8000, ("hair_color1", "soga_hair_color1"), _color),
        (0x10000, ("hair_color2", "soga_hair_color2"), _color),
        (0x20000, ("hair_highlight", "soga_hair_highlight"), _color),
        (0x40000, ("hair_face_color", "soga_hair_face_color"), _color),
        (0x80000, ("hair_face_highlight_color", "soga_hair_face_highlight_color"), _color),
        (0x100000, ("hair_type_color", "soga_hair_type_color"), _color),
        (0x200000, ("hair_type_highlight_color", "soga_hair_type_highlight_color"), _color),
        (0x400000, ("skin_color", "soga_skin_color"), _color),
        (0x800000, ("wing_color1",), _color),
        (0x1000000, ("wing_color2",), _color),
    )


def randomized(looks: Mapping[str, Any], bits: int, rolls: Rolls) -> dict[str, Any]:
    """Return an appearance with the fields rolled that `bits` name.

    Race and body are not rolled: a body of another race would not fit its equipment.
    """
    rolled = dict(looks)
    for bit, fields, roll in _rolls():
        if bits & bit:
            # Both halves alike: a client shows one of them.
            rolled |= dict.fromkeys(fields, roll(rolls))
    return rolled


class RolledLooks(Mapping[str, Any]):
    """A template's appearance with the fields rolled that `bits` name.

    It keeps the seed and not the fields: most spawns of a zone are never seen, and those of a
    large one had ten thousands of colors.
    """

    __slots__ = ("_bits", "_looks", "_seed")

    def __init__(self, looks: Mapping[str, Any], bits: int, seed: int) -> None:
        self._looks = looks
        self._bits = bits
        self._seed = seed

    def roll(self) -> dict[str, Any]:
        """Return the fields, the same each time."""
        return randomized(self._looks, self._bits, Rolls(self._seed))

    def __getitem__(self, name: str) -> Any:
        return _rolled(self)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_rolled(self))

    def __len__(self) -> int:
        return len(_rolled(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RolledLooks):
            return bool(_rolled(self) == other)
        # Not by their fields, which are remembered by this comparison.
        mine, others = (self._seed, self._bits), (other._seed, other._bits)
        return mine == others and self._looks == other._looks

    def __hash__(self) -> int:
        return hash(self._seed)


@lru_cache(maxsize=16)
def _rolled(looks: RolledLooks) -> Mapping[str, Any]:
    """Return the fields of an appearance: whoever asks for one asks for all of them."""
    return looks.roll()
