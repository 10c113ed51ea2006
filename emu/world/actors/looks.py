"""Changes of what a spawn is and looks like, by field name, while it stands in its zone.

A value is a text, as content gives it: a number, a name, or three numbers with blanks for colors
and sliders. A number that does not fit is cut to the nearest that does; a text that is not a number
is 0. The zone shows each change to those who see the spawn.
Source: docs/guides/lua.md#spawn-set.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from emu.appearance import SLIDER_FIELDS
from emu.world.actors.spawn import GhostPart, Spawn, SpawnKind
from emu.world_stream.movement import FULL_TURN

LARGEST_U8: Final = 0xFF
LARGEST_U16: Final = 0xFFFF
LARGEST_MODEL: Final = LARGEST_U16
LARGEST_DIFFICULTY: Final = 20
EPIC: Final = 2
LARGEST_FACTION: Final = 2**31 - 1
LARGEST_STATE: Final = 0xFFFF
LARGEST_SIZE: Final = 0x7FFF
LONGEST_NAME: Final = 63
"""Bytes of a ghost's names."""
FARTHEST: Final = 100_000.0
SLOTS: Final = 25
"""Slots of what a spawn wears; clients of some versions have fewer."""
WHITE: Final = (255, 255, 255)
_NUMBER: Final = re.compile(r"\s*([+-]?\d{1,18}(?:\.\d*)?)")
_CLOTHES: Final = ("equipment_types", "equipment_colors", "equipment_highlights")
_BODY: Final = ("race", "gender", "class")
"""What a spawn keeps of its own when it takes another's looks."""

Color = Sequence[int]
"""Red, green and blue."""


def number_in(text: str) -> float:
    """Return the number with which a text begins; 0 if it begins with none."""
    found = _NUMBER.match(text)
    return float(found[1]) if found is not None else 0.0


def three_in(text: str) -> list[int] | None:
    """Return the three whole numbers of a text; None if it has not three."""
    words = text.split()
    if len(words) < 3:
        return None
    return [int(number_in(word)) for word in words[:3]]


def _cut(value: float, low: int, high: int) -> int:
    return max(low, min(high, int(value)))


def _short(text: str) -> str:
    plain = "".join(letter for letter in text if letter.isprintable())
    return plain.encode("utf-8", "ignore")[:LONGEST_NAME].decode("utf-8", "ignore")


# -- fields ---------------------------------------------------------------------------------------

Setter = Callable[[Spawn, str], bool]
"""Sets a field from a text; returns whether it did."""


class LookField(NamedTuple):
    """A field that `set_field` knows."""

    set: Setter
    for_players: bool = False
    """Whether players may be changed as well: only what they look like, not who they are."""


def change_looks(spawn: Spawn, **values: Any) -> None:
    """Change fields of a spawn's appearance; None removes a field."""
    looks = dict(spawn.appearance)
    for name, value in values.items():
        if value is None:
            looks.pop(name, None)
        else:
            looks[name] = value
    if looks != spawn.appearance:
        spawn.set_info(appearance=looks)


def _look(name: str, low: int, high: int) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        change_looks(spawn, **{name: _cut(number_in(text), low, high)})
        return True

    return LookField(put, for_players=True)


def _triple(name: str, low: int, high: int) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        three = three_in(text)
        if three is None:
            return False
        change_looks(spawn, **{name: [_cut(one, low, high) for one in three]})
        return True

    return LookField(put, for_players=True)


def _info(name: str, high: int, low: int = 0, *, for_players: bool = False) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        spawn.set_info(**{name: _cut(number_in(text), low, high)})
        return True

    return LookField(put, for_players)


def _both(name: str, high: int, low: int = 0) -> LookField:
    """Return a field that is shown in two parts of a ghost."""

    def put(spawn: Spawn, text: str) -> bool:
        setattr(spawn, name, _cut(number_in(text), low, high))
        show_again(spawn, GhostPart.INFO | GhostPart.VISIBILITY)
        return True

    return LookField(put)


def _text(name: str) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        spawn.set_info(**{name: _short(text)})
        return True

    return LookField(put)


def _flag(name: str) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        setattr(spawn, name, number_in(text) != 0)
        show_again(spawn, GhostPart.INFO | GhostPart.VISIBILITY)
        return True

    return LookField(put)


def _shape(name: str, high: int, low: int = 1) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        spawn.set_shape(**{name: _cut(number_in(text), low, high)})
        return True

    return LookField(put)


def _angle(name: str) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        spawn.set_shape(**{name: math.remainder(number_in(text), FULL_TURN)})
        return True

    return LookField(put)


def _place(name: str) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        number = number_in(text)
        value = number % FULL_TURN if name == "heading" else max(-FARTHEST, min(FARTHEST, number))
        changed: dict[str, Any] = {name: value}
        spawn.move(spawn.position._replace(**changed), speed=spawn.speed)
        spawn.origin = spawn.origin._replace(**changed)
        return True

    return LookField(put)


def _grid(spawn: Spawn, text: str) -> bool:
    grid = _cut(number_in(text), 0, 0xFFFFFFFF)
    spawn.move(spawn.position._replace(grid=grid), speed=spawn.speed)
    return True


def _pool(name: str) -> LookField:
    def put(spawn: Spawn, text: str) -> bool:
        most = int(number_in(text))
        if most <= 0 or spawn.hp_percent <= 0:
            return False
        getattr(spawn.sheet, name).fill(most)
        spawn.show_pools()
        return True

    return LookField(put)


def _hide_hood(spawn: Spawn, text: str) -> bool:
    spawn.set_word("hide_hood", on=number_in(text) != 0)
    return True


_MODELS: Final = {
    "model_type": "model_type", "soga_model_type": "soga_model_type",
    "hair_type": "hair_type_id", "soga_hair_type": "soga_hair_type_id",
    "facial_hair_type": "facial_hair_type_id",
    "soga_facial_hair_type": "soga_facial_hair_type_id",
    "wing_type": "wing_type_id", "chest_type": "chest_type_id", "legs_type": "legs_type_id",
}  # fmt: skip
_COLORS: Final = {
    **{name: name for name in ("skin_color", "eye_color", "model_color")},
    **{
        name: name
        for name in (
            "hair_color1", "hair_color2", "hair_highlight", "hair_face_color", "hair_type_color",
            "hair_type_highlight_color",
        )
    },
    "face_hairlight_color": "hair_face_highlight_color",
}  # fmt: skip
_PREFIXES: Final = ("", "soga_")
FIELDS: Final[Mapping[str, LookField]] = {
    **{name: _look(field, 0, LARGEST_U16) for name, field in _MODELS.items()},
    **{name: _look(name, 0, LARGEST_U8) for name in ("class", "gender", "race")},
    **{
        prefix + name: _look(prefix + name, -128, 127)
        for prefix in _PREFIXES
        for name in ("body_age", "body_size")
    },
    **{
        prefix + name: _triple(prefix + field, 0, LARGEST_U8)
        for prefix in _PREFIXES
        for name, field in _COLORS.items()
    },
    **{name: _triple(name, -128, 127) for name in SLIDER_FIELDS.values()},
    **{
        name: _info(name, LARGEST_U16, for_players=True)
        for name in ("visual_state", "action_state", "mood_state", "emote_state")
    },
    "level": _both("level", LARGEST_U8, 1),
    "difficulty": _both("difficulty", LARGEST_DIFFICULTY),
    "heroic": _both("heroic", EPIC),
    "faction": _both("faction", LARGEST_FACTION),
    "icon": _both("icon", LARGEST_U16),
    "display_hand_icon": _both("hand_icon", LARGEST_U8),
    "show_level": _flag("show_level"),
    "show_command_icon": _flag("show_commands"),
    "roll": _angle("roll"),
    "initial_state": _shape("position_state", LARGEST_STATE, 0),
    "name": _text("name"),
    "prefix": _text("prefix"),
    "suffix": _text("suffix"),
    "lastname": _text("last_name"),
    "sub_title": _text("guild"),
    **{name: _flag(name) for name in ("attackable", "targetable", "show_name")},
    "hide_hood": LookField(_hide_hood),
    "size": _shape("size", LARGEST_SIZE),
    "collision_radius": _shape("collision_radius", LARGEST_SIZE),
    "pitch": _angle("pitch"),
    **{name: _place(name) for name in ("x", "y", "z", "heading")},
    "location": LookField(_grid),
    "hp": _pool("health"),
    "power": _pool("power"),
}


def set_field(spawn: Spawn, name: str, value: str) -> bool:
    """Set a field of a spawn; return False for a name or a value that says nothing."""
    field = FIELDS.get(name.strip().lower())
    if field is None or not value:
        return False
    if spawn.kind is SpawnKind.PLAYER and not field.for_players:
        return False
    return field.set(spawn, value)


# -- clothes, mounts, other shapes ----------------------------------------------------------------


def wear(spawn: Spawn, slot: int, model: int, color: Color, highlight: Color) -> bool:
    """Show something in a slot of a creature or a player; model 0 empties the slot."""
    if not spawn.is_living or not 0 <= slot < SLOTS:
        return False
    worn: dict[str, Any] = {}
    values = (_cut(model, 0, LARGEST_U16), _channels(color), _channels(highlight))
    for name, value in zip(_CLOTHES, values, strict=True):
        empty: Any = 0 if name == "equipment_types" else [0, 0, 0]
        slots = list(spawn.appearance.get(name, ()))
        slots += [empty] * (SLOTS - len(slots))
        slots[slot] = value
        worn[name] = slots
    change_looks(spawn, **worn)
    return True


def ride(spawn: Spawn, model: int) -> None:
    """Let a creature or a player ride a mount; 0 lets it get off."""
    if not spawn.is_living:
        return
    model = _cut(model, 0, LARGEST_U16)
    if not model:
        change_looks(spawn, mount_type=None, mount_color=None, mount_saddle_color=None)
    elif model != spawn.appearance.get("mount_type", 0):
        white = list(WHITE)
        change_looks(spawn, mount_type=model, mount_color=white, mount_saddle_color=white)


def paint_mount(spawn: Spawn, mount: Color, saddle: Color) -> None:
    """Paint the mount of a spawn that rides one."""
    if spawn.appearance.get("mount_type", 0):
        change_looks(spawn, mount_color=_channels(mount), mount_saddle_color=_channels(saddle))


def take_shape(spawn: Spawn, model: int) -> None:
    """Let a spawn look as another model for a while; 0 gives it its own model again."""
    if spawn.own_model is None:
        if not model:
            return
        spawn.own_model = int(spawn.appearance.get("model_type", 0))
    if model:
        change_looks(spawn, model_type=_cut(model, 0, LARGEST_MODEL))
    else:
        own, spawn.own_model = spawn.own_model, None
        change_looks(spawn, model_type=own or None)


def copy_looks(spawn: Spawn, other: Spawn) -> None:
    """Let a spawn look as another; its race, gender and class stay its own."""
    looks = {name: value for name, value in other.appearance.items() if name not in _BODY}
    looks |= {name: spawn.appearance[name] for name in _BODY if name in spawn.appearance}
    spawn.set_info(appearance=looks)
    spawn.set_shape(size=other.size)


def show_again(spawn: Spawn, part: int = GhostPart.INFO) -> None:
    """Let the zone compare what viewers have of a part of a spawn, and send what is different."""
    spawn.watcher(spawn, part)


def _channels(color: Color) -> list[int]:
    return [_cut(one, 0, LARGEST_U8) for one in color]
