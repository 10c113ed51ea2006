"""Metrics of a running world: players, unsaved characters, faults and drops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from emu.model import ANYBODY, may_see
from emu.net.watch import Watch
from emu.session import Endpoint
from emu.world.behaviors import Behaviors
from emu.world.world import World


def measure_world(
    watch: Watch,
    endpoint: Endpoint,
    world: World,
    behaviors: Behaviors,
    entry_counters: Callable[[], Counter[str]],
) -> None:
    """Add the measures of a world; `entry_counters` are those of clients that enter."""

    def hidden_sessions() -> int:
        return sum(one.is_online and not may_see(ANYBODY, one.spawn) for one in world.players)

    watch.endpoint("world", endpoint, hidden_sessions)
    watch.measures.gauge(
        "players",
        "Players in the world; hidden ones are not counted.",
        lambda: {(): sum(may_see(ANYBODY, one.spawn) for one in world.players)},
    )
    watch.measures.gauge(
        "unsaved",
        "Characters whose newest state is not stored.",
        lambda: {(): len(world.saves.saver)},
    )
    watch.measures.counter("saves", "States of characters that were stored.").also(
        lambda: {(): world.saves.saver.stored_states}
    )
    watch.reasons(
        "world_faults",
        "Mistakes of the server that were confined to one actor, by what it was doing.",
        lambda: world.faults.counts,
    )
    watch.reasons(
        "behavior_events",
        "Calls of behaviors, failures, and what was dropped because it was too much.",
        lambda: behaviors.counters,
    )
    watch.measures.gauge(
        "zones_stalled",
        "Zones whose tick is overdue or failed repeatedly.",
        lambda: {(): len(world.zones.stalled(world.clock.now()))},
    )
    watch.measures.gauge(
        "actors_paused",
        "Spawns and players' views that are left out of their zone's tick for a while.",
        lambda: {(): sum(len(zone.paused_actors()) for zone in world.zones)},
    )
    watch.reasons(
        "world_drops",
        "Messages of players without an effect.",
        lambda: world.faults.drops + entry_counters(),
    )
