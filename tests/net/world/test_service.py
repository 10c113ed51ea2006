from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet import reactor
from twisted.internet.task import Clock

from emu.commands import Registry
from emu.config.load import parse
from emu.errors import EmuError
from emu.net.scheduler import Scheduler
from emu.net.watch import Watch
from emu.net.world.service import WorldEndpoint
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.zones.zone import Zone
from emu.world_stream.movement import Position
from tests.support.running.whole_server import captured_log
from tests.support.world.world_fakes import no_storage
from tests.support.world.zone_files import write_zones, zone_text


async def test_zones_of_the_folder_are_read_at_the_start_and_at_reload(tmp_path: Path) -> None:
    folder = write_zones(tmp_path / "zones", mine=zone_text(900, "Mine"))
    scheduler = Scheduler(reactor)
    part = WorldEndpoint(
        parse({}, [f"world.zones={folder}"]), no_storage(), lambda: None, reactor, scheduler,  # type: ignore[return-value]
        commands=Registry(),
    )  # fmt: skip
    assert part.parts.ports.atlas.named("Mine") is not None
    try:
        write_zones(folder, mine=zone_text(900, "Yours"))
        assert await part.reloads["zones"]() == "5 zones"
        assert part.parts.ports.atlas.named("Yours") is not None
        write_zones(folder, mine="[")
        with pytest.raises(EmuError, match=r"mine\.toml: not a TOML file"):
            await part.reloads["zones"]()
        assert part.parts.ports.atlas.named("Yours") is not None, "what was read before stays"
        write_zones(folder, mine=zone_text(900, "Theirs", 'behavior = "greter"\n'))
        with pytest.raises(EmuError, match=r"mine\.toml, line 8: zone: behavior: unknown behavior"):
            await part.reloads["zones"]()
        assert part.parts.ports.atlas.named("Yours") is not None, (
            "a fault that it can run with counts, too"
        )
    finally:
        await part.stop(scheduler.now())


def test_knowledge_of_the_folder_is_read_again_at_reload(tmp_path: Path) -> None:
    storage = no_storage()
    part = WorldEndpoint(
        parse({}, [f"world.knowledge={tmp_path}"]), storage, lambda: None, Clock(),  # type: ignore[return-value]
        Scheduler(Clock()), commands=Registry(),
    )  # fmt: skip
    assert 77_777 not in part.parts.world.knowledge.skills
    mine = tmp_path / "mine.toml"
    mine.write_text('[[skill]]\nid = 77777\nname = "Juggling"\n', encoding="utf-8")
    with pytest.raises(StopIteration) as end:
        part.reloads["knowledge"]().send(None)
    assert "skills" in end.value.value
    assert part.parts.world.knowledge.skills[77_777].name == "Juggling"
    mine.write_text("[", encoding="utf-8")
    with pytest.raises(EmuError, match=r"mine\.toml"):
        part.reloads["knowledge"]().send(None)
    assert 77_777 in part.parts.world.knowledge.skills, "what was read before stays"


def test_it_is_not_ready_while_a_zone_is_stalled(logged_failures: Any) -> None:
    clock = Clock()
    storage = no_storage()
    watch = Watch()
    part = WorldEndpoint(
        parse({}, ["world.stalled_failures=2", "world.actor_failures=9"]), storage, Any,
        clock, Scheduler(clock), commands=Registry(), watch=watch,
    )  # fmt: skip
    zones = part.parts.world.zones
    assert zones.rules.actor_failures == 9
    assert part.not_ready() == ""

    def fails(_zone: Any, _now: Any) -> None:
        raise ZeroDivisionError

    zones.tick = fails
    with captured_log("text") as log:
        zone = zones.with_space(12, clock.seconds(), lambda _zone: 0)
        spawn = Spawn(
            part.parts.world.zones.next_spawn_id(), SpawnKind.NPC, "Guard", Position(0, 0, 0)
        )
        zone.add_spawn(spawn, clock.seconds())
        for _ in range(40):
            clock.advance(0.05)
    assert log.text.count("Traceback") == 1, "the others are counted"
    logged_failures.flush(ZeroDivisionError)
    assert "zone Antonica is stalled: its tick failed" in part.not_ready()
    zone.is_listed = False
    assert "a zone is stalled: its tick failed" in part.not_ready()
    assert watch.measures.value("zones_stalled") == 1
    assert watch.measures.value("world_faults", "ticking a zone") >= 2
    zones.tick = Zone.tick
    for _ in range(200):
        clock.advance(0.05)
    assert part.not_ready() == ""
    spawn.move(Position(1, 0, 0))
    part._timer.stop()


def test_it_measures_what_came_over_the_link_without_an_effect() -> None:
    watch = Watch()
    part = WorldEndpoint(
        parse({}, []), no_storage(), Any, Clock(), Scheduler(Clock()), commands=Registry(),
        watch=watch,
    )  # fmt: skip
    assert watch.measures.value("world_link_drops", "refused") == 0
    counters = Counter({"refused": 2})
    part.link = SimpleNamespace(counters=counters)  # type: ignore[assignment]
    assert watch.measures.value("world_link_drops", "refused") == 2


def test_limits_of_behaviors_are_settings_that_count_at_once() -> None:
    storage = no_storage()
    part = WorldEndpoint(
        parse({}, ["world.behavior_burst=7"]), storage, Any, Clock(), Scheduler(Clock()),
        commands=Registry(),
    )  # fmt: skip
    assert part.parts.behaviors.limits.say_burst == 7
    part.configure(parse({}, ["world.behavior_burst=9", "world.behavior_seconds=0.5"]))
    assert part.parts.behaviors.context.limits.say_burst == 9
    assert part.parts.behaviors.context.budget.seconds == 0.5
