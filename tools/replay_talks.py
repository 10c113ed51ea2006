"""Replays recorded conversations against this server, and prints what differs.

    python -m tools.replay_talks RECORDING --scripts FOLDER [--content FILE] [--zone NUMBER]

A recording is a JSON list, gzipped or not, of hails: ``version``, ``name`` and ``script`` of the
spawn, ``level`` of the player, and ``seq``, what happened in order. Each step of it has a kind
``k``: ``chat`` (``sender``, ``text``), ``emote`` (``who``), ``flavor`` (``who``, and ``f`` with the
sound file first and the text last), ``dialog`` (``id``, ``text``, ``answers``), ``dialogclose``,
and ``answer`` with the number ``n`` of the answer that the player gave. Steps of other kinds, and
those of other spawns, are skipped.

With a content file the spawn is the one that stands at the recorded place (``loc``, ``spawn``) in
the zone, with the script that the file binds to it. A script may choose its words at random, so
each hail is tried until the recorded words come, and differs if they never do.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from emu.content.file import ContentFile, Entry, Placement, Template
from emu.content.standing import Standing
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.population.reading import ServedZone, read_zone_content
from emu.world_stream.movement import Position
from tests.support.world.script_scenes import PLACE, ScriptScene

TRIES: Final = 30
"""Hails until the recorded words must have come."""
PAUSE: Final = 3.0
"""Seconds between two hails."""
_KINDS: Final = frozenset(("chat", "emote", "flavor", "dialog", "dialogclose"))
_MESSAGES: Final[Mapping[str, str]] = {
    "OP_EqHearChatCmd": "WS_HearChat",
    "OP_EqCannedEmoteCmd": "WS_CannedEmote",
    "OP_EqHearPlayFlavorCmd": "WS_HearPlayFlavor",
    "OP_EqDialogOpenCmd": "WS_DialogOpen",
    "OP_EqDialogCloseCmd": "WS_ServerDialogClose",
}

Step = tuple[Any, ...]


def read_recording(path: Path) -> list[dict[str, Any]]:
    """Return the hails of a recording."""
    data = path.read_bytes()
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    hails: list[dict[str, Any]] = json.loads(text)
    return hails


def recorded_steps(hail: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what was recorded of a hail: kind, and what must be the same."""
    name = hail["name"]
    for step in hail["seq"]:
        match step["k"]:
            case "answer":
                yield ("answer", step["n"])
            case "emote" if step.get("who") == name:
                yield ("emote",)
            case "flavor" if step.get("who") == name:
                yield ("flavor", step["f"][0], step["f"][-1])
            case "chat" if step["sender"] == name:
                yield ("chat", step["text"])
            case "chat" if step["text"] == f"Hail, {name}":
                yield ("hail",)
            case "dialog" if step.get("who", name) == name:
                yield ("dialog", step["text"], tuple(step["answers"]))
            case "dialogclose":
                yield ("dialogclose",)


def player_of(hails: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the player who was recorded: who said the words of the hail."""
    return next(
        str(step["sender"])
        for hail in hails
        for step in hail["seq"]
        if step["k"] == "chat" and step["text"] == f"Hail, {hail['name']}"
    )


class Replay:
    """A world with one player, in which one spawn after another is hailed."""

    def __init__(self, folder: Path, version: int, player: str, served: ServedZone | None) -> None:
        """`player` is the name of the recorded player, which scripts may say."""
        self._scene = ScriptScene(folder, version, name=player)
        self._served = served
        self._read = 0

    @property
    def lines(self) -> list[str]:
        """What the server has reported of the scripts."""
        return self._scene.lines

    def play(self, hail: Mapping[str, Any]) -> list[str]:
        """Replay one hail; return the lines of a comparison, none if all is the same."""
        scene = self._scene
        scene.player.spawn.level = hail.get("level", 1)
        spawn = self._place(hail)
        expected = [step for step in recorded_steps(hail) if step != ("hail",)]
        best: list[Step] | None = None
        closest = -1.0
        for _ in range(TRIES):
            scene.harness.run(PAUSE)
            heard = self._hail(spawn, expected)
            if heard == expected:
                best = heard
                break
            likeness = difflib.SequenceMatcher(None, expected, heard).ratio()
            if likeness > closest:
                best, closest = heard, likeness
        scene.scripts.vanished(scene.zone, spawn)
        scene.zone.remove(spawn, scene.harness.now)
        scene.harness.run(PAUSE)
        if best == expected:
            return []
        return list(
            difflib.unified_diff(
                [_line(step) for step in expected], [_line(step) for step in best or ()],
                "recorded", "here", lineterm="", n=1,
            )
        )  # fmt: skip

    def _hail(self, spawn: Spawn, expected: Sequence[Step]) -> list[Step]:
        scene = self._scene
        scene.scripts.conversations.end_dialogs(scene.player)
        # A way that the spawn walks must not lead it out of reach.
        scene.player.teleport(spawn.position._replace(x=spawn.position.x + 1.0), scene.harness.now)
        scene.player.spawn.is_led_by_client = True
        scene.player.set_target(spawn)
        self._read = len(scene.client.log)
        scene.client.types("/hail")
        heard = list(self._heard(spawn))
        answers = [step for step in expected if step[0] == "answer"]
        for answer in answers:
            pages = [one["conversation_id"] for one in scene.dialogs()]
            if not heard or heard[-1][0] != "dialog":
                break
            heard.append(answer)
            scene.answer(pages[-1], answer[1])
            heard += self._heard(spawn)
        return heard

    def _heard(self, spawn: Spawn) -> Iterator[Step]:
        scene = self._scene
        log = scene.client.log
        new, self._read = log[self._read :], len(log)
        own = scene.player.index_of(spawn)
        for name, payload in new:
            struct = _MESSAGES.get(name)
            if struct is not None:
                fields = scene.client.dialect.layout(struct).decode(payload)
                yield from _step(struct, fields, spawn, own)

    def _place(self, hail: Mapping[str, Any]) -> Spawn:
        scene = self._scene
        found = _standing(self._served, hail) if self._served is not None else None
        standing = found or _plain_standing(hail)
        spawn = Spawn(
            scene.harness.world.zones.next_spawn_id(), SpawnKind.NPC, hail["name"],
            Position(standing.x, standing.y, standing.z, 0.0),
        )  # fmt: skip
        spawn.level = standing.level
        row = standing.template
        spawn.appearance = {
            "race": row.spawn.get("race", 0), "class": row.own.get("class", 0),
            "gender": row.own.get("gender", 0),
        }  # fmt: skip
        near = spawn.position._replace(x=spawn.position.x + 1.0)
        scene.player.teleport(near, scene.harness.now)
        scene.player.spawn.is_led_by_client = True
        scene.zone.add_spawn(spawn, scene.harness.now)
        scene.scripts.appeared(scene.zone, spawn, standing)
        scene.harness.run(PAUSE)
        return spawn


def _step(struct: str, fields: Mapping[str, Any], spawn: Spawn, own: int | None) -> Iterator[Step]:
    """Yield a message as a step, if it is of a spawn or closes a window."""
    match struct:
        case "WS_HearChat" if fields["from"] == spawn.name:
            yield ("chat", _text(fields["message"]))
        case "WS_CannedEmote" if fields["spawn_id"] == own:
            yield ("emote",)
        case "WS_HearPlayFlavor" if fields["spawn_id"] == own:
            yield ("flavor", fields["mp3"], _text(fields["text"]))
        case "WS_DialogOpen":
            answers = tuple(_text(one["response"]) for one in fields["response_array"])
            yield ("dialog", _text(fields["text"]), answers)
        case "WS_ServerDialogClose":
            yield ("dialogclose",)


def _text(raw: str) -> str:
    """Return a text of the wire, whose bytes are UTF-8."""
    return raw.encode("latin-1").decode("utf-8", "replace")


def _line(step: Step) -> str:
    return " | ".join(repr(part) if isinstance(part, tuple) else str(part) for part in step)


def _plain_standing(hail: Mapping[str, Any]) -> Standing:
    zeros: dict[str, Any] = dict.fromkeys(Placement._fields, 0)
    location = int(hail.get("loc", 1))
    placement = Placement(**zeros | {"id": location, "location_id": location})
    template = Template(int(hail.get("spawn", 1)), "npcs", {}, {}, {}, ())
    entry = Entry(1, location, template.id, 100.0, 0, hail["script"])
    return Standing(placement, entry, template, *PLACE[:3], 10, 32, None, 0)


def _standing(served: ServedZone, hail: Mapping[str, Any]) -> Standing | None:
    """Return what the content file has at the recorded place; None if that is not there."""
    content = served.content
    entries = content.entries.get(hail["loc"], ())
    entry = next((one for one in entries if one.spawn_id == hail["spawn"]), None)
    places = (one for one in content.placements if one.location_id == hail["loc"])
    placement = next(places, None)
    if entry is None or placement is None:
        return None
    template = content.templates[entry.spawn_id]
    level = int(template.own.get("min_level", 1) or 1)
    return Standing(
        placement, entry, template, placement.x, placement.y, placement.z, level, 32, None, 0
    )


def replay(recording: Path, folder: Path, content: Path | None, zone: int | None) -> int:
    """Replay a recording and print what differs; return how many hails do."""
    hails = read_recording(recording)
    served = None
    if content is not None:
        served = read_zone_content(content, zone or _zone_number(content, hails[0]["zone"]))
    hailing = Replay(folder, hails[0]["version"], player_of(hails), served)
    different = 0
    for hail in hails:
        lines = hailing.play(hail)
        if lines:
            different += 1
            print(f"{hail['name']} ({hail['script']})")
            print("\n".join(f"    {line}" for line in lines))
    print(f"{len(hails) - different} of {len(hails)} hails are the same")
    for line in hailing.lines:
        print(f"server: {line}")
    return different


def _zone_number(content: Path, name: str) -> int:
    with ContentFile(content) as file:
        return next(int(row["id"]) for row in file.zones() if row["name"] == name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Replay the recordings that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("recording", type=Path, nargs="+")
    parser.add_argument("--scripts", type=Path, help="the folder that has SpawnScripts")
    parser.add_argument("--content", type=Path, help="a content file; without one only the scripts")
    parser.add_argument("--zone", type=int, help="the zone's number, if its name is not enough")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as empty:
        folder = options.scripts or Path(empty)
        different = [
            replay(path, folder, options.content, options.zone) for path in options.recording
        ]
    return int(any(different))


if __name__ == "__main__":
    sys.exit(main())
