"""The ports of a real server's world: files, stores, clocks and chances for its assembly."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from secrets import randbelow, token_hex

from twisted.internet.defer import Deferred

from emu.content.models import read_stand_ins
from emu.dialects import Dialects, shipped_rules
from emu.net.cluster.service import ProcessContext, ProcessesEndpoint
from emu.net.machine import machine_of
from emu.net.world.content import ContentReader
from emu.net.world.timer import WorldTimer
from emu.opcodes import OpcodeTables
from emu.processes.settings import SharedSettings
from emu.structs import shipped_catalog
from emu.world.behaviors import LOADING, Budget, Library
from emu.world.knowledge import read_knowledge
from emu.world.ports import WorldPorts, WorldStores
from emu.world.recording.recorder import Recorder
from emu.world.reports import WorldEvent
from emu.world.subjects.recordings import Keep
from emu.world.visibility.forms import read_rules

IDENTITY = 16
"""Random bytes of the identity of a movement."""


def world_ports(
    ground: ProcessContext,
    cluster: ProcessesEndpoint,
    reader: ContentReader,
    timer: WorldTimer,
    opcodes: Callable[[], OpcodeTables],
    *,
    zones_folder: Callable[[], Path | None],
    report: Callable[[WorldEvent], None],
    wake_saver: Callable[[], None],
    record: Recorder,
    keep_recording: Keep,
) -> WorldPorts:
    """Return them. Raises `FileFormatError` for a file that cannot be used.

    `zones_folder` returns the operator's folder of zone files; `report` takes events for operators;
    `wake_saver` is called when the saver's timer has changed. `record` records what comes in.
    """
    config, machine = ground.config.world, machine_of(ground.reactor)
    name, bus = cluster.processes.name, cluster.processes.bus
    return WorldPorts(
        atlas=ground.atlas,
        zones_folder=zones_folder,
        dialects=Dialects(opcodes, shipped_catalog(), shipped_rules()),
        forms=read_rules(),
        stand_ins=read_stand_ins(config.content),
        knowledge=read_knowledge(config.knowledge, config.content),
        library=Library(config.behaviors, Budget(LOADING, machine.limited, machine.own_time())),
        stores=WorldStores(
            characters=record.store("characters", cluster.characters),
            guilds=record.store("guilds", cluster.guilds),
            ledger=record.store("ledger", cluster.ledger),
            things=record.store("things", cluster.things),
            mail=record.store("mail", cluster.mail),
            petitions=record.store("petitions", cluster.petitions),
            houses=record.store("houses", cluster.houses),
            memories=record.store("memories", cluster.memories),
        ),
        processes=cluster.processes,
        settings=SharedSettings(name, bus, ground.storage.settings, ground.tasks.spawn),
        content=reader,
        kinds=reader.kinds,
        quests=reader.quests,
        spell_kinds=reader.spells,
        trade=reader.trade,
        crafts=reader.crafts,
        in_thread=reader.run,
        clock=record.clock(ground.scheduler),
        roll=record.roll(randbelow),
        seeded=Random,
        draw=partial(token_hex, IDENTITY),
        report=report,
        address=ground.advertised_address,
        start=ground.tasks.spawn,
        answer=Deferred,
        wake=timer.wake,
        wake_saver=wake_saver,
        tick=timer.tick,
        guard=machine.limited,
        spent=machine.own_time(),
        record=record,
        keep_recording=keep_recording,
    )
