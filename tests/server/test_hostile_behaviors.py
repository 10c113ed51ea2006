"""Behaviors that make mistakes in a whole server, over real UDP: no player is harmed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emu.net.world.service import WorldEndpoint
from emu.world.actors.spawn import Spawn, SpawnKind
from tests.server.test_hostile_players import Company, company
from tests.support.patience import within

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("collect_garbage")]
MEAN = '''
class EndlessText(Exception):
    def __str__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


class Mean:
    """Does what a player says to it."""

    def __init__(self, me, options):
        self.me = me

    def on_say(self, visitor, text):
        getattr(self, "do_" + text, lambda _visitor: None)(visitor)

    def do_nan(self, visitor):
        visitor.move_to(1.0, 2.0, 3.0, heading=float("nan"))

    def do_loop(self, visitor):
        while True:
            try:
                while True:
                    self.me.say("again")
            except BaseException:
                pass

    def do_text(self, visitor):
        raise EndlessText

    def do_spam(self, visitor):
        for _ in range(1000):
            self.me.say("spam " * 200)
            visitor.tell("spam " * 200)
'''


@pytest.mark.parametrize("mistake", ["nan", "loop", "text", "spam"])
async def test_a_mistake_of_a_behavior_harms_nobody(tmp_path: Path, mistake: str) -> None:
    folder = tmp_path / "behaviors"
    folder.mkdir()
    (folder / "mean.py").write_text(MEAN, encoding="utf-8")
    settings: dict[str, object] = {"world.behaviors": str(folder)}
    if mistake == "spam":  # which is no fault, however long a busy machine takes for it
        settings["world.behavior_seconds"] = 10.0
    async with company(tmp_path, settings) as made:
        part = world_of(made)
        await made.unharmed()
        stand(part, "Aldana")
        with within(20):
            made.clients["mallory"].act(lambda core: core.command(f"say {mistake}"))
            await made.unharmed()
        failed = part.parts.behaviors.counters["failed"]
        assert failed == (0 if mistake == "spam" else 1)
        if mistake == "spam":
            assert part.parts.behaviors.counters["dropped"] > 0
        assert {player.name for player in part.parts.world.players} == {
            "Aldana",
            "Borvik",
            "Mallory",
        }
        assert all(player.is_online for player in part.parts.world.players)
        assert not part.parts.world.faults.counts
        await made.clients["mallory"].leave()
        await made.come("mallory", 546)
        await made.unharmed()


def world_of(made: Company) -> WorldEndpoint:
    part = made.server.service.server.world
    assert part is not None
    return part


def stand(part: WorldEndpoint, beside: str) -> None:
    """Put a creature with the behavior beside a player."""
    player: Any = part.parts.world.players.named(beside)
    now = part.parts.world.clock.now()
    spawn = Spawn(part.parts.world.zones.next_spawn_id(), SpawnKind.NPC, "Mean", player.position)
    player.zone.add_spawn(spawn, now)
    assert part.parts.behaviors.start_behavior("mean", {}, player.zone, spawn)
