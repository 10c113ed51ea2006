"""All subjects, and the first words of their commands."""

from __future__ import annotations

from typing import Final

from emu.world.commands import world_command_words
from emu.world.subjects.crafts import Crafting
from emu.world.subjects.houses import Houses
from emu.world.subjects.journals import JournalCommands
from emu.world.subjects.pet_windows import PetWindows
from emu.world.subjects.petitions import Petitions
from emu.world.subjects.recordings import Recordings
from emu.world.subjects.records import PlayerRecords
from emu.world.subjects.subject import Subject
from emu.world.subjects.tracking import Tracking
from emu.world.subjects.uses import ThingUses
from emu.world.subjects.zone_maps import ZoneMaps

SUBJECTS: Final[tuple[type[Subject], ...]] = (
    Petitions, PlayerRecords, Crafting, ThingUses, Recordings, ZoneMaps, Tracking,
    PetWindows, Houses, JournalCommands,
)  # fmt: skip


def all_command_words() -> set[str]:
    """Return the first words of all commands of a world, without a running one."""
    return world_command_words().union(*(one.COMMANDS.words() for one in SUBJECTS))
