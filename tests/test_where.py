"""The page that says where things are names modules and names that exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "contributing" / "where.md"
ROW = re.compile(r"^\| .+\? \| `(emu[\w.]+)` \| `(\w+)` \|$", re.MULTILINE)


def test_there_are_twenty_questions_and_each_answer_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = ROW.findall(text)
    assert len(rows) >= 20
    assert len(rows) == text.count("\n|") - 2, "a row that is no question with an answer"
    missing = [
        f"{module}.{name}"
        for module, name in rows
        if not hasattr(importlib.import_module(module), name)
    ]
    assert missing == []
