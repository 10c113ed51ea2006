"""Retired words are neither in texts for people nor in names; the glossary has the list."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "docs" / "contributing" / "glossary.md"
STYLE = ROOT / "docs" / "contributing" / "style.md"
ROW = re.compile(r"^\| ([a-z, ]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)

# Some words also have a right use. Each has a pattern here that finds the wrong one.
IN_TEXTS = {
    "tell": r"(?<![/.`\"'])\btell\b(?![(`\"'])",
    "look": r"\b(?:an?|the|one|each|every|its|first|second|next|last|own) look\b",
    "looks": r"\b(?:the|its|their|his|two|of|with|without|whose) looks\b(?! (?:like|up|at|for))",
    "part": r"\bpart of (?:a|the|this) (?:service|server|program)\b",
    "parts": r"\bparts of (?:a|the|this) (?:service|server|program)\b",
    "end": r"\b(?:other|far|near|either|each|our|client's|server's|world's) end\b(?! of the)",
    "ends": r"\b(?:both|two) ends\b",
    "front": r"(?<!in )\bfront\b(?! of)",
    "sight": r"(?<!in )(?<!at first )(?<!of[ \n])(?<!maps )\bsight\b",
    "burst": r"\bburst (?:of|on) (?:messages|entering)\b|\b(?:entry|first|initial) burst\b",
    "bursts": r"\bbursts of messages\b",
    "order": r"\bkeeps? order\b",
    "accord": r"\bof (?:its|their|our) own accord\b",
    "learning": "", "keeping": "", "using": "",
}  # fmt: skip
"""Patterns of words in texts; an empty one finds nothing. Other words are always wrong."""
IN_NAMES = {
    "part", "parts", "end", "ends", "order", "using", "front", "burst", "look", "looks", "sight",
}  # fmt: skip
"""Words that are right in some names; in texts their patterns count."""
MODULES = {"learning", "keeping", "order", "using"}
"""Words that are wrong as names of modules only."""


def retired() -> list[str]:
    """Return the words of the glossary's table."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Retired")[2]
    return [word for words, _ in ROW.findall(table) for word in words.split(", ") if word != "word"]


WORDS = retired()
PATTERNS = {
    word: re.compile(IN_TEXTS.get(word) or rf"\b{word}\b", re.IGNORECASE)
    for word in WORDS
    if IN_TEXTS.get(word) != ""
}
NAME_WORDS = frozenset(WORDS) - IN_NAMES - MODULES - {"accord"}
LETTERS = re.compile("[a-z]+")
NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


PAGES = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "docs", "data", "tools/changes",
    "opcodes/README.md",
)  # fmt: skip
"""Files and folders with texts other than Python."""
PAGE_TYPES = {".md", ".toml", ".xml", ".sql", ".js", ".html", ".css", ".yml", ""}
SOURCES = ("emu", "tests", "tools", "twistd-plugins")

CHAT = {"tell", "tells"}
DOOR = {"door", "doors"}
FILE = {"tell"}
RIGHT: dict[str, set[str]] = {
    "CHANGELOG.md": DOOR,
    "docs/guides/lua.md": DOOR,
    "emu/world/commands/spells.py": {"tell"},
    "docs/guides/zones.md": DOOR | {"tell"},
    "docs/protocol/maps.md": DOOR,
    "docs/protocol/world/chat.md": CHAT,
    "docs/protocol/world/commands.md": CHAT,
    "docs/protocol/world/recorded.md": CHAT,
    "data/world/chat.toml": CHAT,
    "emu/cli/capture.py": FILE,
    "data/world/commands.toml": CHAT,
    "emu/cli/client/world.py": CHAT,
    "emu/cli/eq2emu.py": DOOR,
    "emu/client/world/core.py": CHAT | DOOR,
    "emu/client/world/shell.py": CHAT | DOOR,
    "emu/net/web/site.py": FILE,
    "emu/world/handlers/interaction.py": DOOR,
    "emu/world/actors/spawn.py": DOOR,
    "emu/world/behaviors/api.py": CHAT,
    "emu/world/commands/players.py": CHAT,
    "emu/world/commands/social.py": CHAT,
    "emu/world/population/atlas.py": DOOR,
    "emu/world/zones/ground.py": DOOR,
    "emu/world/social/chat.py": CHAT,
    "docs/guides/houses.md": DOOR,
    "emu/world/housing/entrances.py": DOOR,
    "emu/world/housing/housing.py": DOOR,
    "emu/world/housing/windows.py": DOOR,
    "tests/support/world/house_scenes.py": DOOR,
    "tests/world/housing/test_entrances.py": DOOR,
    "tests/world/housing/test_housing.py": DOOR,
    "tests/world/housing/test_housing_content.py": DOOR,
    "tests/world/housing/test_windows.py": DOOR,
    "tests/world/subjects/test_houses.py": DOOR,
    "emu/world/crafting/recipe_windows.py": {"desk"},  # the name of a device
    "tests/client/world/test_shell_lines.py": CHAT,
    "tests/client/world/test_shell_report.py": CHAT,
    "tests/support/world/world_dumps.py": DOOR,
    "tests/world/handlers/test_interaction.py": DOOR,
    "tests/world/behaviors/test_api_actor.py": CHAT,
    "tests/world/behaviors/test_host_hostile.py": CHAT,
    "tests/world/zones/test_definitions_fixtures.py": DOOR,
    "tests/world/social/test_chat_speech.py": CHAT,
    "tests/world/test_service_races.py": CHAT,
    "tests/world/visibility/test_baselines.py": DOOR,
    "tools/bench/fairness_players.py": CHAT,
    "docs/contributing/architecture.md": DOOR,
    "docs/guides/content.md": DOOR,
    "docs/guides/travel.md": DOOR,
    "docs/index.md": DOOR,
    "docs/protocol/world/travel.md": DOOR,
    "emu/net/world/service.py": DOOR,
    "emu/world/scripts/functions/travel.py": DOOR,
    "emu/world/scripts/host.py": DOOR,
    "emu/world/scripts/events.py": DOOR,
    "emu/world/service.py": DOOR,
    "emu/world/travel/__init__.py": DOOR,
    "emu/world/travel/travel.py": DOOR,
    "emu/world/travel/widgets.py": DOOR,
    "emu/world/visibility/baselines.py": DOOR,
    "tests/support/world/script_scenes.py": DOOR,
    "tests/support/world/travel_scenes.py": DOOR,
    "tests/world/scripts/functions/test_travel.py": DOOR,
    "tests/world/travel/test_transporters.py": DOOR,
    "tests/world/travel/test_travel.py": DOOR,
    "tests/world/travel/test_rides.py": DOOR,
    "tests/world/travel/test_widgets.py": DOOR,
    "tools/changes/content-travel.added.md": DOOR,
    "tests/server/test_content_travel.py": DOOR,
    "emu/net/world/content.py": DOOR,
}
"""Words that are right in one file: chat, doors of the game, names in files, Python's `tell`."""
RIGHT_NAMES = {"CharacterPicture", "picture", "picture_size"}
"""Names of others: EQ2Emulator's messages with their fields."""
STORIES = ROOT / "data" / "world" / "zones"
"""Texts that characters in the game say."""


def in_text(text: str) -> Iterator[tuple[int, str]]:
    """Return the retired words of a text for people, each with its line; code is left out."""
    # Each pattern contains its word, and most texts have none of these words.
    words = PATTERNS.keys() & LETTERS.findall(text.lower())
    if not words:
        return
    plain = re.sub(r"``[^`]+``|`[^`\n]+`", lambda code: "\n" * code[0].count("\n"), text)
    places = [(found.start(), word) for word in words for found in PATTERNS[word].finditer(plain)]
    for place, word in sorted(places):
        yield plain.count("\n", 0, place), word


def in_name(name: str) -> Iterator[str]:
    """Return the retired words of a name, or of all names in a text."""
    for word in NAME_PARTS.findall(name):
        if word.lower() in NAME_WORDS:
            yield word.lower()


def pages() -> Iterator[Path]:
    """Return the files with texts, but the two that have to quote the retired words."""
    for name in PAGES:
        path = ROOT / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix not in PAGE_TYPES or file in (GLOSSARY, STYLE) or not file.is_file():
                continue
            if STORIES not in file.parents:
                yield file


def modules() -> Iterator[Path]:
    """Return the Python files, but this one."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path != Path(__file__) and "node_modules" not in path.parts:
                yield path


def tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def is_text(token: tokenize.TokenInfo) -> bool:
    """Return whether a token is a comment, or a string of more than one word."""
    if token.type == tokenize.COMMENT:
        return True
    kinds = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    return token.type in kinds and " " in token.string.strip()


def words_in_texts() -> list[tuple[str, int, str]]:
    """Return file, line and word of all retired words in texts."""
    found = []
    for path in pages():
        name = str(path.relative_to(ROOT))
        found += [(name, 1 + line, word) for line, word in in_text(path.read_text("utf-8"))]
    for path in modules():
        name = str(path.relative_to(ROOT))
        text = path.read_text("utf-8")
        words = PATTERNS.keys() & LETTERS.findall(text.lower())
        if not any(PATTERNS[word].search(text) for word in words):
            continue  # dividing it into tokens is ten times slower
        for token in tokens(text):
            if is_text(token):
                start = token.start[0]
                found += [(name, start + line, word) for line, word in in_text(token.string)]
    return [one for one in found if one[2] not in RIGHT.get(one[0], ())]


def words_in_names() -> list[tuple[str, int, str]]:
    """Return file, line and name of all names with retired words; those of modules are line 0."""
    found = []
    for path in modules():
        name = str(path.relative_to(ROOT))
        found += [(name, 0, path.stem) for word in in_name(path.stem)]
        if path.stem in MODULES:
            found.append((name, 0, path.stem))
        text = path.read_text("utf-8")
        if next(in_name(text), None) is None:
            continue  # dividing it into tokens is ten times slower
        found += [
            (name, token.start[0], token.string)
            for token in tokens(text)
            if token.type == tokenize.NAME and token.string not in RIGHT_NAMES
            for word in in_name(token.string)
            if word not in RIGHT.get(name, ())
        ]
    return found


def listed(found: list[tuple[str, int, str]]) -> str:
    """Return the places and words as lines for a person."""
    places = [f"{path}:{line}: {word}" for path, line, word in found]
    return "\n".join(["see docs/contributing/glossary.md:", *places])


@pytest.mark.slow
def test_texts_have_no_retired_words() -> None:
    found = words_in_texts()
    assert not found, listed(found)


@pytest.mark.slow
def test_names_have_no_retired_words() -> None:
    found = words_in_names()
    assert not found, listed(found)


RELATIVE = ("What", "Who", "Whose", "Whom", "How", "When", "Where", "Which", "Whoever", "Whatever")


def test_no_module_is_described_by_a_relative_clause() -> None:
    """Rule 5 of docs/contributing/style.md; a noun phrase says what a module is."""
    found = []
    for folder in ("emu", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            first = path.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix('"""')
            if first.split(" ", 1)[0] in RELATIVE:
                found.append(f"{path.relative_to(ROOT)}: {first}")
    assert not found, "\n".join(found)


def test_every_pattern_belongs_to_a_word_of_the_glossary() -> None:
    assert len(WORDS) > 50
    assert set(IN_TEXTS) | IN_NAMES | MODULES <= set(WORDS)


def test_code_and_right_uses_are_no_retired_words() -> None:
    right = "The `told` field. Use /tell NAME. It looks up the end of the order, in front of parts."
    assert list(in_text(right)) == []
    wrong = "The client is told\nof a look at the other end, of its own accord."
    assert [word for _, word in in_text(wrong)] == ["told", "look", "end", "accord"]
    assert list(in_text(wrong))[1][0] == 1
    assert list(in_text("``code\n\nof`` three lines\nis told")) == [(3, "told")]


def test_names_are_divided_into_words() -> None:
    assert list(in_name("is_told")) == ["told"]
    assert list(in_name("AccountRoom")) == ["room"]
    assert list(in_name("retold_bedroom")) == []


if __name__ == "__main__":  # `python -m tests.test_words` prints what is left
    print(listed(words_in_texts() + words_in_names()))  # noqa: T201
