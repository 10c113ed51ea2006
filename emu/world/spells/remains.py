"""The acts of spells on players that only scripts take back: mounts, breath, vision.

A spell that goes on in the next zone does it again there: its script's `remove` was called in the
zone before, and its `cast` is not called anew. Source: docs/guides/spells.md#effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from emu.world.actors.looks import paint_mount, ride
from emu.world.actors.sheet import FieldKind
from emu.world.actors.spawn import Spawn

_Redo = Callable[[Spawn, Sequence[float]], object]
MOUNT, MOUNT_COLOR, SEES_INVISIBLE = "mount", "mount_color", "sees_invisible"
BREATH, VISION, DRUNK = "breathe_underwater", "vision", "drunk"
"""These are fields of the sheet as well."""
_CHANNELS: Final = 3


def _ride(spawn: Spawn, values: Sequence[float]) -> None:
    ride(spawn, int(values[0]))


def _paint(spawn: Spawn, values: Sequence[float]) -> None:
    channels = tuple(map(int, values))
    paint_mount(spawn, channels[:_CHANNELS], channels[_CHANNELS:])


def _see(spawn: Spawn, values: Sequence[float]) -> None:
    spawn.sheet.sees_invisible = bool(values[0])


def _set(name: str, kind: FieldKind) -> _Redo:
    return lambda spawn, values: spawn.sheet.set(name, kind, values[0])


REDONE: Final[Mapping[str, tuple[int, _Redo]]] = {
    MOUNT: (1, _ride),
    MOUNT_COLOR: (2 * _CHANNELS, _paint),
    SEES_INVISIBLE: (1, _see),
    BREATH: (1, _set(BREATH, FieldKind.UNSIGNED)),
    VISION: (1, _set(VISION, FieldKind.UNSIGNED)),
    DRUNK: (1, _set(DRUNK, FieldKind.FRACTION)),
}
"""How many numbers each has, and how it is done; in the order in which it has to be."""


def redo(spawn: Spawn, remains: Mapping[str, Sequence[float]]) -> None:
    """Do to a spawn what a spell that goes on has done to it."""
    for name, (_, act) in REDONE.items():
        if name in remains:
            act(spawn, remains[name])


def undo(
    spawn: Spawn, remains: Mapping[str, Sequence[float]],
    others: Iterable[Mapping[str, Sequence[float]]], *, is_undone: bool = False,
) -> None:  # fmt: skip
    """Take back from a spawn what a spell has done to it, as far as no other spell does it too.

    `others` are the remains of its other spells. With `is_undone` the script has taken it back, and
    with it what the others do.
    """
    kept: dict[str, Sequence[float]] = {}
    for one in others:
        kept |= one
    for name, (count, act) in REDONE.items():
        if name in remains and (name in kept or not is_undone):
            act(spawn, kept.get(name, (0.0,) * count))


def are_usable(name: str, values: Sequence[float]) -> bool:
    """Return whether a name is known, and has as many numbers as there are."""
    return name in REDONE and len(values) == REDONE[name][0]
