"""Emotes and moods: the shipped table, and how an emote is shown to the players near.

A client sends ``cannedemote NAME``. Every player near is sent CannedEmote: the animation in the
number of its own version, and the text to show (docs/protocol/world/commands.md#emotes).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from emu.dialects.dialect import NOT_SEEN
from emu.errors import FileFormatError
from emu.files import data_file, read_document
from emu.model import may_see
from emu.schema import field, read_table
from emu.world.actors.player import Player, Relation
from emu.world.actors.spawn import Spawn
from emu.world.world import World

TARGET: Final = "{target}"
NO_ANIMATION: Final = 0


@frozen
class Emote:
    """One emote: its animation by column of `EmoteTable.versions`, and its two texts."""

    animations: tuple[int, ...]
    text: str
    """The text without a target; the name of the player stands before it."""
    target: str
    """The text with a target, which has the place of its name."""


def _emotes(value: Any) -> dict[str, Emote]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of emotes")  # noqa: TRY004  # the reader's own errors
    found = {}
    for name, row in value.items():
        if not isinstance(row, dict) or set(row) != {"animations", "text", "target"}:
            raise ValueError(f"{name}: must have animations, text and target")
        # Without its place, the name of the target would not be shown.
        if TARGET not in str(row["target"]):
            raise ValueError(f"{name}: target must contain {TARGET}")
        numbers = tuple(_number(name, one) for one in row["animations"])
        found[name] = Emote(numbers, str(row["text"]), str(row["target"]))
    return found


def _number(name: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 0xFFFF:
        raise ValueError(f"{name}: an animation must be a number from 0 to 65535")
    return value


def _versions(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or [type(one) for one in value] != [int, int]:
        raise ValueError("must be [first, last]")
    return value[0], value[1]


def _moods(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of numbers")  # noqa: TRY004
    return {name: _number(name, number) for name, number in value.items()}


def _gestures(value: Any) -> dict[str, tuple[int, ...]]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of lists of numbers")  # noqa: TRY004
    return {name: tuple(_number(name, one) for one in numbers) for name, numbers in value.items()}


@frozen
class EmoteTable:
    """The emotes of `data/world/emotes.toml`."""

    versions: tuple[tuple[int, int], ...] = field(form=_versions)
    """First and last client version of each column of animations."""
    moods: Mapping[str, int] = field(form=_moods)
    """The visual state of each mood."""
    emotes: Mapping[str, Emote] = field(form=_emotes)
    gestures: Mapping[str, tuple[int, ...]] = field(form=_gestures)
    """The animations of gestures that are no emotes, by column."""

    def animation(self, emote: Emote, version: int) -> int:
        """Return the number of an animation in a client version; 0 if it is unknown."""
        return self._in_version(emote.animations, version)

    def gesture(self, name: str, version: int) -> int:
        """Return the animation of an emote or a gesture by its name; 0 if it is unknown."""
        emote = self.emotes.get(name)
        numbers = self.gestures.get(name, ()) if emote is None else emote.animations
        return self._in_version(numbers, version) if numbers else NO_ANIMATION

    def _in_version(self, numbers: tuple[int, ...], version: int) -> int:
        for (first, last), number in zip(self.versions, numbers, strict=True):
            if first <= version <= last:
                return number
        return NO_ANIMATION


@cache
def read_emotes(path: Path | None = None) -> EmoteTable:
    """Read a table of emotes, the shipped one by default. Raises `FileFormatError`."""
    path = path or data_file("world", "emotes.toml")
    table = read_table(EmoteTable, read_document(path), path)
    numbers = {name: emote.animations for name, emote in table.emotes.items()}
    for name, animations in (*numbers.items(), *table.gestures.items()):
        # Each needs a number for each column, or `animation` would fail for some clients.
        if len(animations) != len(table.versions):
            raise FileFormatError(f"{path}: {name}: one animation for each of the versions")
    return table


def show_emote(
    world: World, player: Player, emote: Emote, target: Spawn | None, table: EmoteTable
) -> str:
    """Show a player's emote to all players near, and return its text.

    A player who ignores this one sees nothing. One who may not see the target sees the emote
    without it.
    """
    alone = f"{player.name} {emote.text}."
    shown = alone
    if target is not None:
        shown = f"{player.name} {emote.target.replace(TARGET, target.name)}."
    for observer in world.players.standing_in(player.zone):
        # An emote is seen as far as a text is heard.
        if observer.position.distance_to(player.position) > world.rules.hear:
            continue
        if observer.relations.knows(Relation.IGNORED, player.name):
            continue
        index = observer.index_of(player.spawn)
        # The client names the player by its index of the ghost.
        if index is None:
            continue
        # One who may not see the target must not read its name either.
        knows = target is None or may_see(observer.rank, target)
        observer.client.send(
            "WS_CannedEmote",
            {
                "spawn_id": index,
                "emote_msg": shown if knows else alone,
                "anim_type": table.animation(emote, observer.client.version),
                "target": _index(observer, target),
            },
        )
    return shown


def _index(observer: Player, target: Spawn | None) -> int:
    """Return the index by which an observer knows the target."""
    index = observer.index_of(target) if target is not None else None
    return NO_ANIMATION if index is None or index == NOT_SEEN else index
