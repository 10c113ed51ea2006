"""Which scripts of a folder end which steps of quests, as far as their text says so."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

_CONSTANT: Final = re.compile(r"^\s*(?:local\s+)?(\w+)\s*=\s*(\d+)\b", re.MULTILINE)
_CALL: Final = re.compile(r"\b(?:SetStepComplete|AddStepProgress)\s*\(([^()]*),([^,()]+),([^,()]+)")
_COMMENTS: Final = re.compile(r"--\[\[.*?\]\]|--[^\n]*", re.DOTALL)


class QuestEnds:
    """The scripts that call `SetStepComplete` or `AddStepProgress` for a step."""

    def __init__(self, folder: Path) -> None:
        self._scripts: dict[tuple[int, int], set[str]] = defaultdict(set)
        """By quest and step; step 0 for calls whose step is no number in the text."""
        for path in sorted(folder.rglob("*.lua")):
            text = path.read_text(errors="replace")
            if "SetStepComplete" in text or "AddStepProgress" in text:
                self._read(path.relative_to(folder).as_posix(), _COMMENTS.sub("", text))

    def _read(self, name: str, text: str) -> None:
        numbers = {word: int(value) for word, value in _CONSTANT.findall(text)}

        def number(word: str) -> int:
            word = word.strip()
            return int(word) if word.isdecimal() else numbers.get(word, 0)

        for _, quest, step in _CALL.findall(text):
            self._scripts[number(quest), number(step)].add(name)

    def scripts(self, quest: int, step: int) -> set[str]:
        """Return the scripts that end a step."""
        return self._scripts[quest, step] | self._scripts[quest, 0]
