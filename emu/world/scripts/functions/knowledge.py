"""Functions for a character's factions, events, spells and skills.

Everything is stored with the character. Source: docs/guides/lua.md#past.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from emu.model import KnownSkill, SavedKind
from emu.scripts.signatures import FunctionTable, Handle, HandleKind
from emu.world.actors.past import LARGEST
from emu.world.actors.player import Player
from emu.world.actors.spawn import GhostPart
from emu.world.combat.standings import change_standing as change_standing_of
from emu.world.entry.initial_messages import send_languages
from emu.world.events import SkillsChanged
from emu.world.scripts.bodies import Body, Requirement, given
from emu.world.scripts.host import Scripts
from emu.world.scripts.quest_events import quester

KNOWLEDGE: Final = FunctionTable()
MOST_SKILLS: Final = 1000
MOST_LANGUAGES: Final = 255
LARGEST_SKILL: Final = 0xFFFF
STEP: Final = 10_000
"""The standing that is one step of a faction's attitude."""


def _changed(scripts: Scripts, player: Player) -> None:
    scripts.world.saves.changed(player, SavedKind.PAST, scripts.now)


# -- factions -------------------------------------------------------------------------------------


@KNOWLEDGE("GetFactionAmount", "P player, u faction")
def get_standing(scripts: Scripts, body: Body | None, faction: int) -> int | None:
    """Return what a faction thinks of a player, from -50,000 to 50,000."""
    player = quester(body)
    if body is None or player is None:
        return None
    return player.past.standing(faction, scripts.maker.usual_standing(body.home, faction))


@KNOWLEDGE("ChangeFaction", "P player, u faction, n amount")
def change_standing(scripts: Scripts, body: Body | None, faction: int, amount: int) -> bool | None:
    """Raise or lower what a faction thinks of a player, and say so."""
    if body is None or body.player is None:
        return None
    return change_standing_of(
        scripts.world, scripts.chat, body.player, scripts.maker.faction(body.home, faction), amount,
        faction=faction, is_shown=scripts.may_send(),
    )  # fmt: skip


@KNOWLEDGE("GetFactionID", "S spawn")
def get_faction(_scripts: Scripts, body: Body | None) -> int | None:
    """Return the number of a spawn's faction; 0 without one."""
    return None if body is None else body.spawn.faction


@KNOWLEDGE("SetFactionID", "S spawn, u faction")
def set_faction(_scripts: Scripts, body: Body | None, faction: int) -> None:
    """Give a spawn another faction."""
    if body is not None and body.player is None:
        body.spawn.faction = faction
        body.spawn.watcher(body.spawn, GhostPart.VISIBILITY)


# -- past events ----------------------------------------------------------------------------------


@KNOWLEDGE("GetPlayerHistory", "P player, u event")
def get_event(_scripts: Scripts, body: Body | None, event: int) -> tuple[int, int] | None:
    """Return the two values that were noted of an event; nothing when none were."""
    player = quester(body)
    return player.past.event(event) if player is not None else None


@KNOWLEDGE("SetPlayerHistory", "P player, u event, u value, u other?")
def set_event(scripts: Scripts, body: Body | None, event: int, value: int, other: int) -> None:
    """Note two values of an event; they are stored with the character."""
    if body is not None and body.player is not None and body.player.past.note(event, value, other):
        _changed(scripts, body.player)
        body.home.requirements.update(body)


@KNOWLEDGE("SetRequiredHistory", "S spawn, u event, u value, u other, 1 private?, n flag?")
def require_event(
    scripts: Scripts, body: Body | None, event: int, value: int, other: int, is_private: bool,
    _flag: int,
) -> None:  # fmt: skip
    """Let only players use a spawn for whom two values of an event are noted.

    With `private` the others do not see it either.
    """
    if body is not None and body.player is None and event:
        players = [scripts.player_body(one) for one in scripts.players_in(body.home)]
        body.home.requirements.require(
            body, Requirement(event, (value, other), is_private), players
        )


@KNOWLEDGE("GetTutorialStep", "P player")
def get_tutorial_step(_scripts: Scripts, body: Body | None) -> int:
    """Return how far a player has come in the tutorial; 0 at first."""
    return body.player.past.tutorial_step if body is not None and body.player is not None else 0


@KNOWLEDGE("SetTutorialStep", "P player, n step")
def set_tutorial_step(scripts: Scripts, body: Body | None, step: int) -> None:
    """Note how far a player has come in the tutorial; it is stored with the character."""
    if body is not None and body.player is not None:
        body.player.past.tutorial_step = max(0, step) & LARGEST
        _changed(scripts, body.player)


# -- the spell book -------------------------------------------------------------------------------


@KNOWLEDGE("HasSpell", "P player, u spell, n tier")
def has_spell(_scripts: Scripts, body: Body | None, spell: int, tier: int) -> bool:
    """Return whether a player's book has a spell, of just that tier unless it is 0."""
    if body is None or body.player is None:
        return False
    known = body.player.past.spell_tier(spell)
    return known > 0 and tier in (0, known)


@KNOWLEDGE("AddSpellBookEntry", "P player, u spell, n tier, b quiet?, b hotbar=true")
def add_spell(
    scripts: Scripts, body: Body | None, spell: int, tier: int, quiet: bool, hotbar: bool
) -> None:
    """Put a spell into a player's book, at tier 1; a later call raises its tier."""
    if body is not None and body.player is not None:
        scripts.spells.books.add_entry(
            body.player, spell, tier, is_quiet=quiet, has_hotkey=hotbar
        )  # fmt: skip


@KNOWLEDGE("RemoveSpellBookEntry", "P player, u spell")
def remove_spell(scripts: Scripts, body: Body | None, spell: int) -> None:
    """Remove a spell from a player's book."""
    if body is not None and body.player is not None:
        scripts.spells.books.unlearn(body.player, spell)


# -- languages ------------------------------------------------------------------------------------


@KNOWLEDGE("HasLanguage", "P player, u language")
def has_language(scripts: Scripts, body: Body | None, language: int) -> bool | None:
    """Return whether a player knows a language; everybody knows the common one, 0."""
    player = quester(body)
    if player is None:
        return None
    return scripts.world.knowledge.understands(player.character, language)


@KNOWLEDGE("AddLanguage", "P player, u language")
def add_language(scripts: Scripts, body: Body | None, language: int) -> None:
    """Teach a player a language."""
    if body is None or body.player is None or not 0 < language <= MOST_LANGUAGES:
        return
    player = body.player
    known = scripts.world.knowledge.languages_of(player.character)
    if language in known or len(known) >= MOST_LANGUAGES:
        return
    player.character = replace(player.character, languages=tuple(sorted([*known, language])))
    _changed(scripts, player)
    if scripts.may_send():
        send_languages(player.client, scripts.world.knowledge, player.character)


# -- skills ---------------------------------------------------------------------------------------


class OwnSkill(NamedTuple):
    """A skill of a player, as a script has it."""

    player: Player
    number: int


def _skills(scripts: Scripts, player: Player) -> dict[int, KnownSkill]:
    known = player.character.skills or scripts.world.knowledge.beginners.skills(player.character)
    return {skill.id: skill for skill in known}


def _keep(scripts: Scripts, player: Player, skills: dict[int, KnownSkill]) -> None:
    player.character = replace(
        player.character, skills=tuple(skills[number] for number in sorted(skills))
    )
    _changed(scripts, player)
    scripts.world.events.publish(SkillsChanged(player))


@KNOWLEDGE("GetSkillIDByName", "t name")
def get_skill_number(scripts: Scripts, name: str) -> int | None:
    """Return the number of a skill by its name; nothing when there is none."""
    wanted = name.casefold()
    skills = scripts.world.knowledge.skills.values()
    return next((skill.id for skill in skills if skill.name.casefold() == wanted), None)


@KNOWLEDGE("HasSkill", "P player, u skill")
def has_skill(scripts: Scripts, body: Body | None, number: int) -> bool | None:
    """Return whether a player has a skill."""
    if body is None or body.player is None:
        return None
    return number in _skills(scripts, body.player)


@KNOWLEDGE("AddSkill", "P player, u skill, n value, n most, b more?")
def add_skill(
    scripts: Scripts, body: Body | None, number: int, value: int, most: int, _more: bool
) -> bool | None:
    """Teach a player a skill; nothing when the player has it. The client is sent its book soon."""
    if body is None or body.player is None:
        return None
    skills = _skills(scripts, body.player)
    if number in skills or number not in scripts.world.knowledge.skills:
        return None
    if len(skills) >= MOST_SKILLS:
        return False
    most = max(0, min(most, LARGEST_SKILL))
    skills[number] = KnownSkill(number, max(0, min(value, most)), most)
    _keep(scripts, body.player, skills)
    return True


@KNOWLEDGE("RemoveSkill", "P player, u skill, b more?")
def remove_skill(scripts: Scripts, body: Body | None, number: int, _more: bool) -> None:
    """Take a skill from a player; the last one stays."""
    if body is None or body.player is None:
        return
    skills = _skills(scripts, body.player)
    # A character without any would have those of a new one.
    if len(skills) > 1 and skills.pop(number, None) is not None:
        _keep(scripts, body.player, skills)


@KNOWLEDGE("IncreaseSkillCapsByType", "P player, n type, n amount, b more?")
def raise_skill_caps(
    scripts: Scripts, body: Body | None, kind: int, amount: int, _more: bool
) -> None:
    """Raise the highest value that the skills of a type can have now."""
    if body is None or body.player is None or amount <= 0:
        return
    rows, skills = scripts.world.knowledge.skills, _skills(scripts, body.player)
    changed = {
        number: replace(known, most=min(known.most + amount, LARGEST_SKILL))
        for number, known in skills.items()
        if number in rows and rows[number].type == kind
    }
    if changed:
        _keep(scripts, body.player, skills | changed)


@KNOWLEDGE("GetSkill", "P player, t name")
def get_skill(scripts: Scripts, body: Body | None, name: str) -> Handle | None:
    """Return a skill of a player by its name."""
    number = get_skill_number(scripts, name)
    if body is None or body.player is None or number not in _skills(scripts, body.player):
        return None
    return Handle(HandleKind.SKILL, OwnSkill(body.player, number), is_lasting=False)


def _own(scripts: Scripts, skill: OwnSkill | None) -> KnownSkill | None:
    return _skills(scripts, skill.player).get(skill.number) if skill is not None else None


@KNOWLEDGE("GetSkillName", "K skill")
def get_skill_name(scripts: Scripts, skill: OwnSkill | None) -> str | None:
    """Return the name of a skill."""
    row = scripts.world.knowledge.skills.get(skill.number) if skill is not None else None
    return given(row.name) if row is not None else None


@KNOWLEDGE("GetSkillValue", "K skill")
def get_skill_value(scripts: Scripts, skill: OwnSkill | None) -> int | None:
    """Return the value of a skill."""
    known = _own(scripts, skill)
    return known.value if known is not None else None


@KNOWLEDGE("GetSkillMaxValue", "K skill")
def get_skill_most(scripts: Scripts, skill: OwnSkill | None) -> int | None:
    """Return the highest value that a skill can have now."""
    known = _own(scripts, skill)
    return known.most if known is not None else None


@KNOWLEDGE("SetSkillValue", "K skill, n value")
def set_skill_value(scripts: Scripts, skill: OwnSkill | None, value: int) -> None:
    """Set the value of a skill, at most the highest that it can have now."""
    known = _own(scripts, skill)
    if skill is not None and known is not None:
        value = max(0, min(value, known.most))
        skills = _skills(scripts, skill.player) | {known.id: replace(known, value=value)}
        _keep(scripts, skill.player, skills)


@KNOWLEDGE("SetSkillMaxValue", "K skill, n value")
def set_skill_most(scripts: Scripts, skill: OwnSkill | None, value: int) -> None:
    """Set the highest value that a skill can have now."""
    known = _own(scripts, skill)
    if skill is not None and known is not None:
        most = max(0, min(value, LARGEST_SKILL))
        changed = replace(known, most=most, value=min(known.value, most))
        _keep(scripts, skill.player, _skills(scripts, skill.player) | {known.id: changed})
