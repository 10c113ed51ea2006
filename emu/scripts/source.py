"""Analysis of a script's source: functions that it calls and defines, globals that it sets.

The source is read word by word and not run. Source: docs/guides/lua.md#checking.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_WORD: Final = re.compile(
    r"""
    (?P<space>[ \t\r\f\v]+)
  | (?P<line>\n)
  | (?P<comment>--\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z) | --[^\n]*)
  | (?P<long>\[(?P<equals>=*)\[.*?(?:\](?P=equals)\]|\Z))
  | (?P<text>"(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)
  | (?P<number>0[xX][0-9a-fA-F.]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>==|~=|<=|>=|\.\.\.|\.\.|::|//|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING: Final = frozenset(("(", "[", "{"))
_CLOSING: Final = frozenset((")", "]", "}"))
_KEYWORDS: Final = frozenset((
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
))  # fmt: skip
_LOADERS: Final = frozenset(("require", "dofile"))


class LuaWord(NamedTuple):
    """One word of a source."""

    kind: str
    """``name``, ``key``, ``text``, ``number`` or ``sign``."""
    text: str
    line: int


class LuaCall(NamedTuple):
    """A call of a function by its global name."""

    name: str
    line: int
    arguments: tuple[LuaWord | None, ...] | None
    """Each argument that is one word; None for longer ones. None if nobody asked for them."""


@dataclass(slots=True)
class SourceFacts:
    """What a source says."""

    calls: list[LuaCall] = field(default_factory=list)
    """Of names that are not local."""
    defined: set[str] = field(default_factory=set)
    """Global names that get a value anywhere."""
    leaked: dict[str, int] = field(default_factory=dict)
    """Global names that get a value only inside of functions, and the first line of each."""
    modules: list[tuple[str, int]] = field(default_factory=list)
    """Names of files that are loaded, with the line."""


def words(source: str) -> Iterator[LuaWord]:
    """Yield the words of a source, without blanks and comments."""
    line = 1
    for match in _WORD.finditer(source):
        kind = match.lastgroup or "sign"
        if kind in ("level", "equals"):
            kind = "comment" if match["comment"] is not None else "long"
        text = match[0]
        if kind == "line":
            line += 1
            continue
        if kind in ("space", "comment"):
            line += text.count("\n")
            continue
        if kind == "long":
            yield LuaWord("text", text, line)
            line += text.count("\n")
        elif kind == "name" and text in _KEYWORDS:
            yield LuaWord("key", text, line)
        else:
            yield LuaWord(kind, text, line)


def comments(source: str) -> dict[int, str]:
    """Return the comments of one line each by their lines, without dashes and blanks."""
    found: dict[int, str] = {}
    line = 1
    for match in _WORD.finditer(source):
        if match["comment"] is not None and match["level"] is None:
            found[line] = match[0].strip("- \t\r")
        line += match[0].count("\n")
    return found


def constants(source: str) -> dict[str, str]:
    """Return the names that get a number and never anything else, with this number as written."""
    values: dict[str, set[str | None]] = {}
    found = [_END, *words(source), _END, _END]
    for before, name, sign, value, after in zip(
        found, found[1:], found[2:], found[3:], found[4:], strict=False
    ):
        if name.kind != "name" or sign.text != "=" or before.text in (".", ":"):
            continue
        is_alone = value.kind == "number" and (
            after.kind in ("name", "key", "") or after.text == ";"
        )
        values.setdefault(name.text, set()).add(value.text if is_alone else None)
    return {
        name: value for name, (value, *others) in values.items() if value is not None and not others
    }


def text_of(word: LuaWord) -> str:
    """Return what a word of kind ``text`` stands for, without its quotes."""
    return word.text.strip("\"'") if word.text[:1] in "\"'" else word.text.strip("[]=")


def read_source(source: str, wanted: Collection[str] = ()) -> SourceFacts:
    """Return what a source says; calls of the `wanted` names come with their arguments."""
    return _Reader(list(words(source)), wanted).read()


class _Reader:
    """Follows the blocks of a source to know which names are local."""

    def __init__(self, found: list[LuaWord], wanted: Collection[str]) -> None:
        self._words = found
        self._wanted = wanted
        self._facts = SourceFacts()
        self._top: set[str] = set()
        self._scopes: list[tuple[str, set[str]]] = [("file", set())]
        self._awaits_do = 0
        self._nested = 0

    def read(self) -> SourceFacts:
        at = 0
        while at < len(self._words):
            at = self._step(at)
        facts = self._facts
        facts.leaked = {name: line for name, line in facts.leaked.items() if name not in self._top}
        return facts

    def _step(self, at: int) -> int:
        """Take in one word; return the index of the next one to look at."""
        word = self._words[at]
        if word.kind == "key":
            return self._keyword(at, word.text)
        if word.text in _OPENING:
            self._nested += 1
        elif word.text in _CLOSING:
            self._nested -= 1
        elif word.kind == "name":
            self._name(at, word)
        return at + 1

    def _keyword(self, at: int, text: str) -> int:
        match text:
            case "function":
                return self._function(at + 1)
            case "local":
                return self._local(at + 1)
            case "for":
                self._push("for")
                self._awaits_do += 1
                return self._names(at + 1)
            case "while":
                self._push("while")
                self._awaits_do += 1
            case "do" if self._awaits_do:
                self._awaits_do -= 1
            case "do" | "if" | "repeat":
                self._push(text)
            case "end" | "until":
                self._pop()
        return at + 1

    def _push(self, kind: str) -> None:
        self._scopes.append((kind, set()))

    def _pop(self) -> None:
        if len(self._scopes) > 1:
            self._scopes.pop()

    def _function(self, at: int) -> int:
        """Take in a function's name and parameters, from the word behind `function`."""
        word = self._word(at)
        if word.kind == "name":
            if self._word(at + 1).text == "(":
                self._sets(word)
            while self._word(at).text not in ("(", ""):
                at += 1
        self._push("function")
        while self._word(at).text not in (")", ""):
            if self._word(at).kind == "name":
                self._scopes[-1][1].add(self._word(at).text)
            at += 1
        return at + 1

    def _local(self, at: int) -> int:
        if self._word(at).text == "function":
            self._scopes[-1][1].add(self._word(at + 1).text)
            return self._function(at + 1)
        return self._names(at)

    def _names(self, at: int) -> int:
        """Take in names that become local, up to the word that is none."""
        while self._word(at).kind == "name":
            self._scopes[-1][1].add(self._word(at).text)
            at += 1
            if self._word(at).text != ",":
                break
            at += 1
        return at

    def _name(self, at: int, word: LuaWord) -> None:
        if self._word(at - 1).text in (".", ":"):
            return
        following = self._word(at + 1)
        is_local = any(word.text in names for _, names in self._scopes)
        if following.text == "(" or following.kind == "text":
            if word.text in _LOADERS:
                self._module(at, word)
            elif not is_local:
                self._facts.calls.append(
                    LuaCall(word.text, word.line, self._arguments(at + 1, word))
                )
        elif not self._nested and not is_local and self._is_assigned(at, following):
            self._sets(word)

    def _is_assigned(self, at: int, following: LuaWord) -> bool:
        """Return whether a name stands on the left side of an assignment."""
        if following.text == ",":
            # A list of names: only a statement can begin behind these.
            if self._word(at - 1).text not in (",", ";", ")", "end", "then", "do", "else", ""):
                return False
            while self._word(at).kind == "name" and self._word(at + 1).text == ",":
                at += 2
        return self._word(at).kind == "name" and self._word(at + 1).text == "="

    def _sets(self, word: LuaWord) -> None:
        self._facts.defined.add(word.text)
        if any(kind == "function" for kind, _ in self._scopes):
            self._facts.leaked.setdefault(word.text, word.line)
        else:
            self._top.add(word.text)

    def _module(self, at: int, word: LuaWord) -> None:
        named = self._word(at + 2 if self._word(at + 1).text == "(" else at + 1)
        if named.kind == "text":
            name = text_of(named)
            self._facts.modules.append(
                (name + (".lua" if word.text == "require" else ""), word.line)
            )

    def _arguments(self, at: int, word: LuaWord) -> tuple[LuaWord | None, ...] | None:
        """Return the arguments of a call whose bracket or text stands at an index."""
        if word.text not in self._wanted:
            return None
        if self._word(at).kind == "text":
            return (self._word(at),)
        found: list[LuaWord | None] = []
        part: list[LuaWord] = []
        depth = 0
        # Commas of a function inside of the brackets separate nothing here.
        blocks = 0
        for one in self._words[at + 1 :]:
            if one.text in _OPENING:
                depth += 1
            elif one.text in _CLOSING:
                if not depth:
                    break
                depth -= 1
            elif one.kind == "key":
                blocks += {"function": 1, "if": 1, "do": 1, "end": -1}.get(one.text, 0)
            if one.text == "," and not depth and not blocks:
                found.append(part[0] if len(part) == 1 else None)
                part = []
            else:
                part.append(one)
        if part or found:
            found.append(part[0] if len(part) == 1 else None)
        return tuple(found)

    def _word(self, at: int) -> LuaWord:
        return self._words[at] if 0 <= at < len(self._words) else _END


_END: Final = LuaWord("", "", 0)
