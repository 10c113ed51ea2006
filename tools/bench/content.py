"""A whole world of content: import, start, hails, calls of scripts, large zones, memory, walks.

The world is generated, of the size of the community's (`tools.bench.content_dump`). With
``--content`` and ``--scripts`` a real content file and its scripts are measured instead; the import
and the creatures on scripted routes are always the generated ones. Memory is that of server
processes which play nothing else, one for each round. The yardstick is RC4 in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Final

from tests.support.world.script_scenes import ScriptScene
from tools.bench import content_worlds
from tools.bench.content_dump import Extent, generated, imported
from tools.bench.content_worlds import Measured, Scale
from tools.bench.figures import Figure, Round
from tools.bench.yardsticks import RC4_KILOBYTE, rc4_loop

CONTENT: Path | None = None
SCRIPTS: Path | None = None
IS_QUICK = False
SMALL: Final = Extent(zones=3, placements=240, spawns=60, walkers=10)
SMALL_SCALE: Final = Scale(
    zones=2, crowd=3, players=3, seconds=0.5, settle=2.0, rest=8, visitors=2, stay=0.5
)
HAILS: Final = 300
CALLS: Final = 2000
NAMES: Final = 20
"""Calls of server functions in one call of a script, when both are measured together."""
SHORT: Final = "20 ms"
"""What other players wait at most."""


def report(rounds: int) -> Iterator[Figure]:
    """Measure everything; with `IS_QUICK` a small world, in one round."""
    extent, scale = (SMALL, SMALL_SCALE) if IS_QUICK else (Extent(), Scale())
    rounds = 1 if IS_QUICK else rounds
    with TemporaryDirectory(prefix="emu-bench-") as name:
        folder = Path(name)
        yield from _calls(folder / "calls", rounds)
        dumps, scripts = generated(folder, extent)
        made = folder / "content.sqlite"
        imports = _repeated(rounds, lambda at: _imported(dumps, folder / f"{at}.sqlite"))
        imported(dumps, made)
        path, own = (CONTENT, SCRIPTS) if CONTENT and SCRIPTS else (made, scripts)
        yield from _of(imports, "import of the generated dumps", {
            "cpu": ("CPU", "s", "90 s"), "memory": ("most memory", "MB", "250 MB"),
        })  # fmt: skip
        for what, begun in (
            ("a server without content", _repeated(rounds, lambda _: _started(None, None))),
            ("a server with it", _repeated(rounds, lambda _: _started(path, own))),
        ):
            yield from _of(begun, what, {
                "cpu": ("CPU of its start", "s", ""), "memory": ("memory", "MB", ""),
                "idle": ("CPU of a second, nobody is there", "us", ""),
            })  # fmt: skip
        yield from _of(
            _repeated(rounds, lambda _: content_worlds.visited(path, own, scale)),
            f"{scale.zones} largest zones", VISITED,
        )  # fmt: skip
        most = SMALL.zones if IS_QUICK else MOST_ZONES
        yield from _of(
            _repeated(1, lambda _: content_worlds.toured(path, own, scale, most)),
            f"all zones, {scale.visitors} players at a time", TOURED,
        )  # fmt: skip
        place = content_worlds.most_crowded(path)
        yield from _of(
            _repeated(rounds, lambda _: content_worlds.welcomed(path, own, scale, place)),
            "a newcomer in the most crowded place", NEWCOMER,
        )  # fmt: skip
        yield from _of(
            _repeated(rounds, lambda _: content_worlds.walked(made, scripts, scale)),
            f"{extent.walkers} creatures", WALKED,
        )  # fmt: skip


Rows = dict[str, tuple[str, str, str]]
"""By the name of what was measured: what it is, its unit, and its aim."""
VISITED: Final[Rows] = {
    "opened": ("CPU until a player stands in each", "s", ""),
    "opening": ("longest turn meanwhile", "ms", SHORT),
    "opening cpu": ("CPU of the longest turn meanwhile", "ms", ""),
    "idle": ("CPU of a second with a player in each", "us", ""),
    "reload": ("CPU of `reload content`, 1,000 places moved", "s", ""),
    "reloading": ("longest turn while it reloads", "ms", SHORT),
    "reloading cpu": ("CPU of the longest turn while it reloads", "ms", ""),
    "before": ("resident memory before", "MB", ""),
    "full": ("resident memory with all open", "MB", "450 MB"),
    "left": ("resident memory after all have ended", "MB", "as before"),
    "leaving": ("longest turn while they end, nobody is there", "ms", ""),
}
MOST_ZONES: Final = 1000
"""More than the community's world has."""
TOURED: Final[Rows] = {
    "zones": ("zones entered", "", ""),
    "spent": ("CPU until the last player has left", "s", ""),
    "entering": ("longest entry of a player", "s", ""),
    "touring": ("longest turn meanwhile", "ms", ""),
    "touring cpu": ("CPU of the longest turn meanwhile", "ms", SHORT),
    "before": ("resident memory before", "MB", ""),
    "full": ("most resident memory meanwhile", "MB", ""),
    "left": ("resident memory after all have ended", "MB", "250 MB above before"),
    "leaving cpu": ("CPU of the longest turn after that", "ms", SHORT),
}
NEWCOMER: Final[Rows] = {
    "entities": ("entities received", "", ""),
    "seconds": ("time until the last of them", "s", "0.3 s"),
    "waits": ("longest turn of the server", "ms", SHORT),
    "waits cpu": ("CPU of the longest turn", "ms", ""),
}
WALKED: Final[Rows] = {
    "walk": (
        "walk by a script before players: CPU of a second",
        "us",
        "100,000 more than standing",
    ),
    "stand": ("stand before players: CPU of a second", "us", ""),
    "walk alone": ("on routes, nobody is there: CPU of a second", "us", "as standing"),
    "stand alone": ("stand, nobody is there: CPU of a second", "us", ""),
}


def _imported(dumps: Path, target: Path) -> Measured:
    found = content_worlds.measured_import(dumps, target)
    target.unlink()
    return found


def _started(path: Path | None, scripts: Path | None) -> Measured:
    return content_worlds.started(path, scripts)


def _repeated(rounds: int, measure: Callable[[int], Measured]) -> Sequence[tuple[Measured, float]]:
    """Measure some times, each beside the yardstick."""
    return [(measure(number), _yard()) for number in range(rounds)]


def _of(found: Sequence[tuple[Measured, float]], what: str, rows: Rows) -> Iterator[Figure]:
    for key, (name, unit, aim) in rows.items():
        values = [Round(one[key], yard) for one, yard in found]
        yield Figure(f"{what}: {name}", unit, RC4_KILOBYTE, values, aim)


# -- calls ------------------------------------------------------------------------------------


def _calls(folder: Path, rounds: int) -> Iterator[Figure]:
    folder.mkdir()
    scene = ScriptScene(folder)
    guard = scene.spawn("""
        function one(NPC) Say(NPC, "Yes?") end
        function many(NPC) for i = 1, 20 do GetLevel(NPC) end end
        function nothing(NPC) end""")
    body = scene.scripts.body_of(guard, scene.zone)
    assert body is not None

    def message() -> None:
        scene.harness.chat.spawn_says(guard, [scene.player], "Yes?")

    said = [_each(message, HAILS) for _ in range(rounds)]
    hails = [_each(lambda: scene.scripts.call(body, "one"), HAILS) for _ in range(rounds)]
    more = [Round(hail - alone, _yard()) for hail, alone in zip(hails, said, strict=True)]
    yield Figure("a script's answer, above its message", "us", RC4_KILOBYTE, more, "50 us")
    nothing = [_each(lambda: scene.scripts.call(body, "nothing"), CALLS) for _ in range(rounds)]
    many = [_each(lambda: scene.scripts.call(body, "many"), CALLS // 10) for _ in range(rounds)]
    yield Figure(
        "an event of a script that does nothing", "us", RC4_KILOBYTE,
        [Round(one, _yard()) for one in nothing],
    )  # fmt: skip
    inside = [(a - b) / NAMES for a, b in zip(many, nothing, strict=True)]
    yield Figure(
        "a server function that a script calls", "us", RC4_KILOBYTE,
        [Round(one, _yard()) for one in inside], "3 us",
    )  # fmt: skip


def _each(call: Callable[[], object], count: int) -> float:
    """Return the microseconds of CPU that one call takes."""
    began = process_time()
    for _ in range(count):
        call()
    return (process_time() - began) / count * 1e6


def _yard() -> float:
    return rc4_loop(20_000).cpu * 1e9
