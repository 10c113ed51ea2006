"""What characters may know and bear: skills, languages and titles, and what beginners have of them.

Facts come from files, the shipped ones and an operator's; what one character has is its player's.
"""

from __future__ import annotations

from emu.world.knowledge.beginners import Beginners, KnownSkill
from emu.world.knowledge.facts import Knowledge, Language, Skill
from emu.world.knowledge.reading import read_knowledge

__all__ = ["Beginners", "Knowledge", "KnownSkill", "Language", "Skill", "read_knowledge"]
