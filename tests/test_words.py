"""Retired words are neither in texts for people nor in names; the glossary has the list."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
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
    "front": r"(?<!in )\bfront\b(?! of)", "sight": r"(?<!in )(?<!at first )\bsight\b",
    "burst": r"\bburst (?:of|on) (?:messages|entering)\b|\b(?:entry|first|initial) burst\b",
    "bursts": r"\bbursts of messages\b",
    "order": r"\bkeeps? order\b",
    "accord": r"\bof (?:its|their|our) own accord\b",
    "learning": "", "keeping": "", "using": "",
}  # fmt: skip
"""Patterns of words in texts; an empty one finds nothing. Other words are always wrong."""
IN_NAMES = {"part", "parts", "end", "ends", "order", "using", "front", "burst", "look", "looks"}
"""Words that are right in some names; in texts their patterns count."""
MODULES = {"learning", "keeping", "order", "using"}
"""Words that are wrong as names of modules only."""


def retired() -> list[str]:
    """Return the words of the glossary's table."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Retired")[2]
    return [word for words, _ in ROW.findall(table) for word in words.split(", ") if word != "word"]


WORDS = retired()
TEXT = re.compile(
    "|".join(f"(?P<{word}>{IN_TEXTS.get(word) or f'{chr(92)}b{word}{chr(92)}b'})"
             for word in WORDS if IN_TEXTS.get(word) != ""),
    re.IGNORECASE,
)  # fmt: skip
NAME_WORDS = frozenset(WORDS) - IN_NAMES - MODULES - {"accord"}
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
RIGHT: dict[str, set[str]] = {
    "CHANGELOG.md": DOOR,
    "docs/guides/zones.md": DOOR | {"tell"},
    "docs/protocol/world/chat.md": CHAT,
    "docs/protocol/world/commands.md": CHAT,
    "docs/protocol/world/entering.md": {"house"},  # a field's name
    "docs/protocol/world/recorded.md": CHAT,
    "data/login/versions.toml": {"told"},
    "data/world/chat.toml": CHAT,
    "emu/cli/client/world.py": CHAT,
    "emu/cli/eq2emu.py": DOOR,
    "emu/client/world/core.py": CHAT | DOOR,
    "emu/client/world/shell.py": CHAT | DOOR,
    "emu/world/actors/interaction.py": DOOR,
    "emu/world/actors/spawn.py": DOOR,
    "emu/world/behaviors/api.py": CHAT,
    "emu/world/commands/speech.py": CHAT,
    "emu/world/content/atlas.py": DOOR,
    "emu/world/content/eq2emu.py": DOOR,
    "emu/world/social/chat.py": CHAT,
    "tools/bench/fairness_players.py": CHAT,
}
"""Words that are right in one file: the chat command, doors of the game, names in files."""
RIGHT_NAMES = {
    "ZoneTold", "ChannelTold", "told_max_characters", "mend",
    "CharacterPicture", "picture", "picture_size",
}  # fmt: skip
"""Names of others: JSON keys, keys of files, and EQ2Emulator's messages with their fields."""
STORIES = ROOT / "data" / "world" / "zones"
"""Texts that characters in the game say."""

ALLOWED_IN_TEXTS: dict[str, int] = {
    "data/sql": 2,
    "data/web": 15,
    "docs/guides": 1,
    "docs/protocol": 2,
    "emu/admin": 1,
    "emu/cli": 4,
    "emu/session": 2,
    "emu/world": 1,
    "emu/world/actors": 1,
    "emu/world/commands": 1,
    "emu/world/content": 1,
    "emu/world/entry": 3,
    "emu/world/registration": 1,
    "tests/admin": 9,
    "tests/capture": 2,
    "tests/cli": 3,
    "tests/client": 5,
    "tests/limits": 1,
    "tests/login": 2,
    "tests/net": 17,
    "tests/opcodes": 2,
    "tests/processes": 3,
    "tests/session": 10,
    "tests/structs": 2,
    "tests/support": 2,
    "tests/world": 34,
    "tests/world_stream": 2,
}
"""How many retired words texts still have, by package. These numbers may only fall."""
ALLOWED_IN_NAMES: dict[str, int] = {
    "emu/cli": 1,
    "emu/net/web": 1,
    "tests/admin": 7,
    "tests/net": 7,
    "tests/world": 7,
}
"""The same of names."""


def in_text(text: str) -> Iterator[tuple[int, str]]:
    """Return the retired words of a text for people, each with its line; code is left out."""
    plain = re.sub(r"``[^`]+``|`[^`\n]+`", "``", text)
    for match in TEXT.finditer(plain):
        yield plain.count("\n", 0, match.start()), str(match.lastgroup)


def in_name(name: str) -> Iterator[str]:
    """Return the retired words of a name."""
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


def tokens(path: Path) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)


def is_text(token: tokenize.TokenInfo) -> bool:
    """Return whether a token is a comment, or a string of more than one word."""
    if token.type == tokenize.COMMENT:
        return True
    kinds = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
    return token.type in kinds and " " in token.string.strip()


def package_of(path: str) -> str:
    """Return the package of a module, or the folder of another file."""
    folders = path.split("/")[:-1]
    return "/".join(folders[: 3 if folders[:2] in (["emu", "world"], ["emu", "net"]) else 2])


def words_in_texts() -> list[tuple[str, int, str]]:
    """Return file, line and word of all retired words in texts."""
    found = []
    for path in pages():
        name = str(path.relative_to(ROOT))
        found += [(name, 1 + line, word) for line, word in in_text(path.read_text("utf-8"))]
    for path in modules():
        name = str(path.relative_to(ROOT))
        for token in tokens(path):
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
        found += [
            (name, token.start[0], token.string)
            for token in tokens(path)
            if token.type == tokenize.NAME and token.string not in RIGHT_NAMES
            for word in in_name(token.string)
            if word not in RIGHT.get(name, ())
        ]
    return found


def beyond(found: list[tuple[str, int, str]], allowed: dict[str, int]) -> list[str]:
    """Return the places of the packages that have more than they are allowed."""
    counts = Counter(package_of(path) for path, _, _ in found)
    worse = {package for package, count in counts.items() if count > allowed.get(package, 0)}
    return [f"{path}:{line}: {word}" for path, line, word in found if package_of(path) in worse]


@pytest.mark.slow
def test_texts_have_no_retired_words() -> None:
    found = beyond(words_in_texts(), ALLOWED_IN_TEXTS)
    assert not found, "\n".join(["see docs/contributing/glossary.md:", *found])


@pytest.mark.slow
def test_names_have_no_retired_words() -> None:
    found = beyond(words_in_names(), ALLOWED_IN_NAMES)
    assert not found, "\n".join(["see docs/contributing/glossary.md:", *found])


def test_every_pattern_belongs_to_a_word_of_the_glossary() -> None:
    assert len(WORDS) > 50
    assert set(IN_TEXTS) | IN_NAMES | MODULES <= set(WORDS)


def test_code_and_right_uses_are_no_retired_words() -> None:
    right = "The `told` field. Use /tell NAME. It looks up the end of the order, in front of parts."
    assert list(in_text(right)) == []
    wrong = "The client is told\nof a look at the other end, of its own accord."
    assert [word for _, word in in_text(wrong)] == ["told", "look", "end", "accord"]
    assert list(in_text(wrong))[1][0] == 1


def test_names_are_divided_into_words() -> None:
    assert list(in_name("is_told")) == ["told"]
    assert list(in_name("AccountRoom")) == ["room"]
    assert list(in_name("retold_bedroom")) == []


if __name__ == "__main__":  # `python -m tests.test_words` prints what is left
    for path, line, word in words_in_texts() + words_in_names():
        print(f"{path}:{line}: {word}")  # noqa: T201
    for found in (words_in_texts(), words_in_names()):
        print(dict(sorted(Counter(package_of(path) for path, _, _ in found).items())))  # noqa: T201
