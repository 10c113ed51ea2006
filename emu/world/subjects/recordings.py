"""Recordings of zones: whoever reports a fault saves one, and so does an operator.

Source: docs/guides/replay.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

from emu.commands import Argument, ArgumentKind, Call, Reply
from emu.commands.registry import MASTER
from emu.errors import CommandError, EmuError
from emu.world.commands.context import PlayerCommandSet
from emu.world.events import FaultReported
from emu.world.recording.recorder import Recorder
from emu.world.recording.recording import Recording
from emu.world.subjects.subject import Subject
from emu.world.world import World
from emu.world.zones.zone import Zone

Keep = Callable[[Recording], Awaitable[str]]
"""Writes a recording, and returns the name of its file. Raises `EmuError`."""


async def not_kept(_recording: Recording) -> str:
    """Refuse to write a recording, in a world without files."""
    raise CommandError("recordings are not kept here")


class Recordings(Subject):
    """The recordings of one world."""

    def __init__(self, world: World, record: Recorder, keep: Keep) -> None:
        """Save what `record` keeps of a zone by `keep`."""
        self._world = world
        self._record = record
        self._keep = keep
        if record.is_on:
            world.events.subscribe(FaultReported, self._reported)

    def _reported(self, event: FaultReported) -> None:
        self._world.start(self._save_report(event))

    async def _save_report(self, event: FaultReported) -> None:
        try:
            await self._save(event.player.zone, f"bug {event.number}", is_private=False)
        except EmuError:
            # The report itself is stored.
            self._world.count("recordings not written")

    async def _save(self, zone: Zone, reason: str, *, is_private: bool) -> str:
        return await self._keep(self._record.recording(zone, reason, is_private=is_private))

    async def save(self, zones: Iterable[Zone], reason: str, *, is_private: bool) -> list[str]:
        """Save what is kept of some zones; return the names of the files. Raises `EmuError`."""
        return [await self._save(zone, reason, is_private=is_private) for zone in zones]

    def running(self, name: str) -> list[Zone]:
        """Return the recorded instances of a zone by its name. Raises `CommandError`."""
        atlas = self._world.zones.table
        definition = atlas.named(name) or next(
            (one for one in atlas if one.description.casefold() == name.casefold()), None
        )
        if definition is None:
            raise CommandError(f"there is no zone {name}; zones lists them")
        if not self._record.is_on:
            raise CommandError("zones are not recorded; set world.record = true")
        found = [one for one in self._record.zones() if one.zone_id == definition.id]
        if not found:
            raise CommandError(f"{definition.description} does not run here")
        return found


COMMANDS = PlayerCommandSet[Recordings]()


@COMMANDS.command(
    "zone record", "save the last minutes of a zone to a file, for emu replay",
    Argument("zone", help="its name, file, number or description", among="zone"),
    Argument("private", ArgumentKind.SWITCH, "with texts between players and addresses",
             optional=True, default=False),
    rank=MASTER, changes="zone {zone}", example="zone record Antonica",
)  # fmt: skip
async def _zone_record(recordings: Recordings, call: Call) -> Reply:
    zones = recordings.running(call["zone"])
    files = await recordings.save(zones, "operator", is_private=call["private"])
    return Reply(tuple(f"recorded in {name}" for name in files), files)


Recordings.COMMANDS = COMMANDS
