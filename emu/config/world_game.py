"""Settings of the built-in world: the rules of the game."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from emu.config.setting import setting
from emu.world.rules import WorldRules

# The world states its own defaults, so that it also runs without a configuration.
_WORLD: Final = WorldRules("Norrath")


# Without slots: a class with several bases that have them cannot be made.
@frozen(slots=False)
class WorldGameSettings:
    """Which spawns of the content stand, and how players learn, fight and cast."""

    max_level: int = setting(
        _WORLD.max_level, "Highest level of a character.", unit="level", limits=(1, 255)
    )
    expansions: int = setting(
        0,
        "Bits of the expansions whose spawns of `content` stand; 0 lets those of all stand.",
        limits=(0, 0xFFFFFFFF),
    )
    holidays: int = setting(
        1,
        "Bits of the holidays whose spawns of `content` stand; 1 is an ordinary day, and 0 lets"
        " those of all stand.",
        limits=(0, 0xFFFFFFFF),
    )
    ground: str = setting(
        "keep",
        "Height of creatures that stand: keep has that of their row, unless it is under the ground;"
        " snap has the ground's, as EQ2Emulator's server does it.",
        choices=("keep", "snap"),
    )
    experience_rate: float = setting(
        _WORLD.experience_rate,
        "What the experience of each kill is multiplied by.",
        limits=(0.0, 1000.0),
        live=True,
    )
    vitality_gain: float = setting(
        _WORLD.vitality_gain,
        "How much more of a level, in percent, vitality doubles after each `vitality_seconds`.",
        limits=(0.0, 100.0),
        live=True,
    )
    vitality_seconds: float = setting(
        _WORLD.vitality_seconds,
        "Time after which players have more vitality, in the world or not.",
        limits=(1.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    temporary_seconds: float = setting(
        _WORLD.temporary_seconds,
        "Time away from the world after which a character has lost its temporary things.",
        limits=(0.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    death_debt: float = setting(
        _WORLD.death_debt,
        "Debt of experience for each death, in percent of a level; half of each gain pays it.",
        limits=(0.0, 100.0),
        live=True,
    )
    debt_recovery: float = setting(
        _WORLD.debt_recovery,
        "Percent of the debt that players are forgiven after each `debt_seconds`.",
        limits=(0.0, 100.0),
        live=True,
    )
    debt_seconds: float = setting(
        _WORLD.debt_seconds,
        "Time after which players are forgiven some of their debt, in the world or not.",
        limits=(1.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    spirit_shards: bool = setting(
        _WORLD.spirit_shards,
        "A spirit shard stays where a player dies; who recovers it gets most of the debt back.",
        live=True,
    )
    shard_recovery: float = setting(
        _WORLD.shard_recovery,
        "Percent of a death's debt that its spirit shard gives back.",
        limits=(0.0, 100.0),
        live=True,
    )
    leash: float = setting(
        _WORLD.leash,
        "How far creatures hunt, from where they stood, before they give up.",
        limits=(1.0, 32_000.0),
        live=True,
    )
    reach: float = setting(
        _WORLD.reach,
        "How far a blow reaches beyond the radii of both sides.",
        limits=(0.0, 100.0),
        live=True,
    )
    faction_fights: bool = setting(
        _WORLD.faction_fights,
        "Creatures attack creatures of factions that are hostile to theirs.",
        live=True,
    )
    equip_in_fights: bool = setting(
        _WORLD.equip_in_fights,
        "Players may change what they wear while they fight.",
        live=True,
    )
    aggro_needs_view: bool = setting(
        _WORLD.aggro_needs_view,
        "Creatures begin to attack only those to whom they have a line of sight, as maps show it."
        " false: whoever is near enough, as with EQ2Emulator's server.",
        live=True,
    )
    classic_spell_levels: bool = setting(
        _WORLD.classic_spell_levels,
        "Classes learn spells at the classic levels of the content file, which may lie within a"
        " level. false: at its newer levels.",
        live=True,
    )
    falls_hurt: bool = setting(
        _WORLD.falls_hurt,
        "Falls and drowning, which clients report, hurt players.",
        live=True,
    )
    kept_casts: float = setting(
        _WORLD.kept_casts,
        "Percent of the hits that do not interrupt a cast; the skill Focus adds to it.",
        limits=(0.0, 100.0),
        live=True,
    )
    fizzles: bool = setting(
        _WORLD.fizzles, "Casts can fail if the skill for the spell is low.", live=True
    )
    fizzle_percent: float = setting(
        _WORLD.fizzle_percent,
        "Percent of casts that fail for each whole requirement below `fizzle_skill`.",
        limits=(0.0, 100.0),
        live=True,
    )
    fizzle_skill: float = setting(
        _WORLD.fizzle_skill,
        "How many times the skill that a spell asks for never fails.",
        limits=(0.0, 100.0),
        live=True,
    )
    fizzle_least: float = setting(
        _WORLD.fizzle_least,
        "How many times the skill that a spell asks for counts at least, however low the skill is.",
        limits=(0.0, 100.0),
        live=True,
    )
    mastery_points: int = setting(
        _WORLD.mastery_points,
        "Points of a spell's mastery skill that add one percent to its chance to land.",
        limits=(1, 10_000),
        live=True,
    )
    loot_reach: float = setting(
        _WORLD.loot_reach,
        "From how far players loot a body or a chest, in units of the world.",
        limits=(1.0, 1_000.0),
        live=True,
    )
    strength_points: int = setting(
        _WORLD.strength_points,
        "Points of strength that add one to the damage of a player's blows.",
        limits=(1, 10_000),
        live=True,
    )
    creature_strength_points: int = setting(
        _WORLD.creature_strength_points,
        "Points of strength that add one to the damage of a creature's blows.",
        limits=(1, 10_000),
        live=True,
    )
