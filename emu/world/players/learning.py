"""What a client is told of knowledge: names of skills and languages, and which its character has.

Clients know languages as skills of the same number. Source: docs/protocol/world/entering.md#books,
docs/protocol/world/entering.md#small-messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from emu.dialects import Dialect
from emu.dialects.text import wire_texts
from emu.errors import UnknownStruct
from emu.model import WorldCharacter
from emu.structs.packed import pack_counted
from emu.world.knowledge import Knowledge, KnownSkill
from emu.world.players.burst import BOOK_HEAD
from emu.world.players.client import WorldClient

SKILL_MAP: Final = "WS_SkillMap"
SKILL_BOOK: Final = "WS_UpdateSkillBook"


def send_names(client: WorldClient, knowledge: Knowledge) -> None:
    """Name the skills and languages there are; all clients of a version are told the same."""
    made = client.dialect.made
    key = SKILL_MAP, knowledge
    if key not in made:
        try:
            made[key] = _names(client.dialect, knowledge)
        except UnknownStruct:
            made[key] = b""
    if made[key]:
        client.send_bytes("OP_PopulateSkillMapsMsg", made[key])


def send_languages(client: WorldClient, knowledge: Knowledge, character: WorldCharacter) -> None:
    """Send the languages a character knows, besides the common one that it speaks."""
    known = knowledge.beginners.languages(character)
    client.send(
        "WS_Languages",
        {
            "num_languages": len(known),
            "language_array": [{"language_id": number} for number in known],
        },
    )


def send_skills(client: WorldClient, knowledge: Knowledge, character: WorldCharacter) -> None:
    """Send the skills of a character."""
    skills = knowledge.beginners.skills(character)
    try:
        payload = skill_book(client.dialect, knowledge, skills)
    except UnknownStruct:
        return
    client.send_bytes("OP_UpdateSkillBookMsg", payload)


def skill_book(dialect: Dialect, knowledge: Knowledge, skills: Sequence[KnownSkill]) -> bytes:
    """Return the first book that a client is sent. Raises `UnknownStruct`."""
    rows = [_row(knowledge, skill, dialect.version) for skill in skills]
    whole = dialect.encode_known(SKILL_BOOK, {"skill_count": len(rows), "skill_array": rows})
    tail = dialect.layout(SKILL_BOOK).empty_size() - BOOK_HEAD
    return pack_counted(len(rows), whole[BOOK_HEAD:-tail], whole[-tail:], dialect.version)


def _row(knowledge: Knowledge, known: KnownSkill, version: int) -> dict[str, Any]:
    skill = knowledge.skills.get(known.id)
    shown = int(skill is not None and skill.shown)
    return {
        "skill_id": known.id,
        "type": knowledge.skill_type(skill, version) if skill is not None else 0,
        "current_val": known.value,
        "base_val": known.value,
        "max_val": known.most,
        "display_minval": shown,
        "display_maxval": shown,
    }


def _names(dialect: Dialect, knowledge: Knowledge) -> bytes:
    rows = [
        {
            "skill_id": skill.id,
            "short_name": skill.short_name,
            "name": skill.name,
            "description": skill.description,
        }
        for skill in knowledge.named
    ]
    values = wire_texts({"skill_count": len(rows), "skill_array": rows})
    return dialect.encode_known(SKILL_MAP, values)
