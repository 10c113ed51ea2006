"""Lines that spawns play to players, with gestures, voices, animations and effects.

A player whose client does not have the spawn is sent nothing of it. Source:
docs/protocol/world/shows.md#flavor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.knowledge import Knowledge
from emu.world.speech.emotes import read_emotes
from emu.world_stream.movement import Position

LONGEST_FILE: Final = 255
_VOLUME, _NEAR, _FAR = 1.0, 2.5, 15.0
_U32: Final = 0xFFFFFFFF
_STATE_BITS: Final = 0xFFFF


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """What a spawn says, with the sound file and the gesture of it; each may be empty."""

    text: str
    voice: str = ""
    keys: tuple[int, int] = (0, 0)
    """The client plays the file only with its two keys."""
    gesture: str = ""
    """The name of an emote."""
    language: int = 0


def play_line(
    spawn: Spawn, hearers: Iterable[Player], line: SpokenLine, knowledge: Knowledge
) -> None:
    """Let a spawn speak a line to players; by `knowledge` they understand its language or not."""
    for hearer in hearers:
        index = hearer.index_of(spawn)
        if index is None:
            continue
        is_apart = hearer.client.dialect.world_rules.gesture_apart
        if line.gesture and is_apart:
            play_gesture(spawn, [hearer], line.gesture)
        hearer.client.send(
            "WS_HearPlayFlavor",
            {
                "spawn_id": index,
                "mp3": line.voice[:LONGEST_FILE],
                "name": spawn.name,
                "text": line.text,
                "emote": "" if is_apart else line.gesture[:LONGEST_FILE],
                "key1": line.keys[0] & _U32,
                "key2": line.keys[1] & _U32,
                "language": line.language & 0xFF,
                "understood": int(knowledge.understands(hearer.character, line.language)),
                "is_heard": 1,
                "is_shown": 1,
            },
        )


def play_gesture(spawn: Spawn, viewers: Iterable[Player], name: str) -> None:
    """Show a gesture by its name; versions that do not have it are sent nothing."""
    table = read_emotes()
    for viewer in viewers:
        number = table.gesture(name, viewer.client.version)
        if number:
            play_animation(spawn, [viewer], number)


def play_animation(spawn: Spawn, viewers: Iterable[Player], number: int) -> None:
    """Show an animation of a spawn once; `number` is that of the client's own tables."""
    for viewer in viewers:
        index = viewer.index_of(spawn)
        if index is not None:
            viewer.client.send(
                "WS_CannedEmote", {"spawn_id": index, "anim_type": number & _STATE_BITS}
            )


def play_voice(spawn: Spawn, hearers: Iterable[Player], voice: str, keys: tuple[int, int]) -> None:
    """Play a sound file in a spawn's voice."""
    for hearer in hearers:
        index = hearer.index_of(spawn)
        if index is not None:
            hearer.client.send(
                "WS_PlayVoice",
                {
                    "spawn_id": index, "mp3": voice[:LONGEST_FILE],
                    "key1": keys[0] & _U32, "key2": keys[1] & _U32,
                },
            )  # fmt: skip


def play_sound(hearers: Iterable[Player], name: str, place: Position | None = None) -> None:
    """Play a sound file, at a place or everywhere."""
    values: dict[str, object] = {"name": name[:LONGEST_FILE]}
    struct = "WS_PlaySound"
    if place is not None:
        struct = "WS_PlaySoundAt"
        values |= {
            "x": place.x, "y": place.y, "z": place.z,
            "volume": _VOLUME, "near": _NEAR, "far": _FAR,
        }  # fmt: skip
    for hearer in hearers:
        hearer.client.send(struct, values)


def play_visual(
    caster: Spawn, viewers: Iterable[Player], visual: int, seconds: float = 0.0,
    targets: Iterable[Spawn] = (),
) -> None:  # fmt: skip
    """Show the visual effect of a spell on its targets, or on the caster; no spell is cast."""
    wanted = list(targets) or [caster]
    for viewer in viewers:
        index = viewer.index_of(caster)
        if index is None:
            continue
        known = [number for one in wanted if (number := viewer.index_of(one)) is not None]
        viewer.client.send(
            "WS_HearSpellCast",
            {
                "spawn_id": index,
                "num_targets": len(known),
                "target_array": [{"target": number} for number in known],
                "visual": visual & viewer.client.dialect.world_rules.most_visual,
                "seconds": seconds,
                "level": 0,
                "tier": 1,
            },
        )


def send_state(spawn: Spawn, viewers: Iterable[Player], state: int) -> None:
    """Show a state of a spawn, such as an animation that stays."""
    for viewer in viewers:
        index = viewer.index_of(spawn)
        if index is not None:
            viewer.client.send("WS_StateCmd", {"spawn_id": index, "state": state & _STATE_BITS})
