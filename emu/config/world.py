"""Settings of the built-in world server, and among them those of scripts, content and records."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from emu.config.setting import file_or_none, setting
from emu.config.world_game import WorldGameSettings
from emu.config.world_players import WorldPlayerSettings
from emu.config.world_server import WorldServerSettings
from emu.world.rules import BehaviorRules, RecordRules

# The world states its own defaults, so that it also runs without a configuration.
_LIMITS: Final = BehaviorRules()
_RECORD: Final = RecordRules()


@frozen
class WorldConfig(WorldGameSettings, WorldPlayerSettings, WorldServerSettings):
    """``[world]``: the built-in world server."""

    script_share: float = setting(
        0.05,
        "CPU time that the timers of one Lua script may use over time; what is late waits.",
        unit="of one core",
        limits=(0.001, 1),
    )
    scripts_share: float = setting(
        0.2,
        "CPU time that the timers of all Lua scripts together may use over time.",
        unit="of one core",
        limits=(0.001, 1),
    )
    behaviors: Path | None = file_or_none(
        "Folder of Python files with behaviors of spawns and zones. They run in the server process."
        " Empty: none.",
    )
    behavior_seconds: float = setting(
        _LIMITS.budget,
        "Longest CPU time of one call of a behavior. A behavior that needs more is switched off.",
        unit="seconds",
        limits=(0.01, 10),
        live=True,
    )
    behavior_share: float = setting(
        _LIMITS.share,
        "CPU time that one behavior may use over time; calls above it are skipped.",
        unit="of one core",
        limits=(0.001, 1),
        live=True,
    )
    behavior_rate: float = setting(
        _LIMITS.say_rate,
        "Messages that one behavior may say aloud over time, and as many to each player.",
        unit="messages per second",
        limits=(0.1, 1000),
        live=True,
    )
    behavior_burst: int = setting(
        _LIMITS.say_burst,
        "Messages that one behavior may say aloud without a pause, and as many to each player.",
        unit="messages",
        limits=(1, 1000),
        live=True,
    )
    behavior_hear_rate: float = setting(
        _LIMITS.hear_rate,
        "Messages that all behaviors together may send to one player over time.",
        unit="messages per second",
        limits=(0.1, 1000),
        live=True,
    )
    behavior_hear_burst: int = setting(
        _LIMITS.hear_burst,
        "Messages that all behaviors together may send to one player without a pause.",
        unit="messages",
        limits=(1, 1000),
        live=True,
    )
    knowledge: Path | None = file_or_none(
        "Folder of files with skills, languages and titles, read after the shipped ones. Empty:"
        " none."
    )
    content: Path | None = file_or_none(
        "Content file that `emu content import` has made; its zones are below those of `zones`, and"
        " its rules are the defaults of other settings. Empty: none."
    )
    items: Path | None = file_or_none(
        "TOML file with things of your own, and with changes of things of `content`. Empty: none."
    )
    spells: Path | None = file_or_none(
        "TOML file with spells of your own, and with other forms of spells of `content`. Empty:"
        " none."
    )
    scripts: Path | None = file_or_none(
        "Folder of EQ2Emulator's Lua scripts, which the spawns of `content` name. Needs the package"
        " lupa. Empty: none."
    )
    watch_scripts: bool = setting(
        False, "Read changed Lua scripts anew within a second, for authors of scripts."
    )
    record: bool = setting(
        False,
        "Keep the last minutes of each running zone in memory. A player's report of a fault, and"
        " the command `zone record`, write them to a file that `emu replay` plays.",
    )
    record_seconds: float = setting(
        _RECORD.seconds,
        "How much of each zone is kept.",
        unit="seconds",
        limits=(10, 3600),
    )
    recordings: Path | None = file_or_none(
        "Folder of these files. Empty: `recordings` beside the database."
    )
    zones: Path | None = file_or_none(
        "Folder of zone files that add to the shipped ones or replace them. Empty: none."
    )
