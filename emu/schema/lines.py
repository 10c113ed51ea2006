"""The lines of a TOML file: where each key and each item of a list is written.

`tomllib` checks a file and returns plain values, without their places. For errors about values this
module reads the text again, as a sequence of tokens, and notes the line of each path of keys and
indexes. It expects a file that `tomllib` has accepted; of any other file it notes what it can.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from emu.files import read_whole

Keys = tuple[str | int, ...]
"""The keys and indexes that lead to a value of a document."""

# Possessive quantifiers (`*+`) keep a strange file from making the pattern slow.
_TOKEN: Final = re.compile(
    r'''(?P<text>"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}|\'\'\'(?:[^']|'{1,2}(?!'))*+'{3,5}'''
    r"""|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
    r"|(?P<newline>\n)|(?P<mark>[\[\]{}=,.])|(?P<word>[^\s\[\]{}=,.#\"']++)"
    r"|(?P<blank>[^\S\n]++|\#[^\n]*+|.)",
    re.DOTALL,
)


class TomlSource:
    """A TOML file, for errors: returns the line of a key.

    The file is read again when the first error is described. Until then it costs nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: Mapping[Keys, int] | None = None

    def __str__(self) -> str:
        return str(self.path)

    def at(self, keys: Sequence[str | int]) -> str:
        """Return ``FILE, line N`` for the place of a value, or of the nearest table around it."""
        if self._lines is None:
            try:
                self._lines = key_lines(read_whole(self.path).decode("utf-8-sig"))
            except (
                OSError,
                ValueError,
                RecursionError,
            ):  # it has changed since it was read without a fault
                self._lines = {}
        wanted = tuple(keys)
        while wanted:
            line = self._lines.get(wanted)
            if line is not None:
                return f"{self.path}, line {line}"
            wanted = wanted[:-1]
        return str(self.path)


def key_lines(text: str) -> dict[Keys, int]:
    """Return the line, from 1 on, of each key and list item of a TOML document."""
    # TOML accepts both forms of line breaks, and each counts as one line.
    return _Scanner(text.replace("\r\n", "\n")).lines


class _Scanner:
    """One pass over the tokens of a document."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Keys, int] = {}
        self._counts: dict[Keys, int] = {}
        """The number of tables of each list of tables, ``[[spawn]]``."""
        self._tokens: list[tuple[str, str, int]] = []
        """Kind, text and line of each token but blanks and comments; at the end an empty one."""
        line = 1
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup or ""
            if kind != "blank":
                self._tokens.append((kind, found[0], line))
            line += found[0].count("\n")
        self._tokens.append(("end", "", line))
        self._at = 0
        self._document()

    def _peek(self) -> str:
        return self._tokens[self._at][1]

    def _next(self) -> tuple[str, str, int]:
        token = self._tokens[self._at]
        # The last token stays, so that no method reads past the document.
        if token[0] != "end":
            self._at += 1
        return token

    def _document(self) -> None:
        table: Keys = ()
        while self._tokens[self._at][0] != "end":
            kind, text, line = self._tokens[self._at]
            if kind == "newline":
                self._next()
            elif text == "[":
                table = self._header(line)
            else:
                self._pair(table)

    def _header(self, line: int) -> Keys:
        """Read ``[table]`` or ``[[list]]``; return the keys of the table that begins."""
        self._next()
        is_list = self._peek() == "["
        keys = self._key()
        table: Keys = ()
        for number, key in enumerate(keys):
            table = (*table, key)
            # Keys behind a list of tables belong to the newest table of that list.
            if table in self._counts and not (is_list and number == len(keys) - 1):
                table = (*table, self._counts[table] - 1)
        if is_list:
            self._counts[table] = self._counts.get(table, 0) + 1
            # The first table's line stands for errors about the whole list.
            self.lines.setdefault(table, line)
            table = (*table, self._counts[table] - 1)
        self.lines.setdefault(table, line)
        self._skip_line()
        return table

    def _skip_line(self) -> None:
        while self._tokens[self._at][0] not in ("newline", "end"):
            self._next()

    def _key(self) -> list[str]:
        """Read the words of a dotted key, and stop at any other token."""
        words: list[str] = []
        while self._tokens[self._at][0] in ("word", "text", "mark"):
            kind, text, _ = self._tokens[self._at]
            if kind == "mark" and text not in (".", "["):
                break
            self._next()
            if kind == "word":
                words.append(text)
            elif kind == "text":
                words.append(_unquoted(text))
        return words

    def _pair(self, table: Keys) -> None:
        """Read ``key = value``."""
        line = self._tokens[self._at][2]
        begun = self._at
        keys = table
        for word in self._key():
            keys = (*keys, word)
            self.lines.setdefault(keys, line)
        if self._peek() == "=":
            self._next()
            self._value(keys)
        elif self._at == begun:
            self._next()  # not TOML; go on behind it

    def _value(self, keys: Keys) -> None:
        self.lines.setdefault(keys, self._tokens[self._at][2])
        opening = self._peek()
        if opening not in ("[", "{"):
            while self._tokens[self._at][0] in ("word", "text") or self._peek() == ".":
                self._next()
            return
        self._next()
        index = 0
        while self._tokens[self._at][0] != "end":
            kind, text, _ = self._tokens[self._at]
            if text in ("]", "}") and kind == "mark":
                self._next()
                return
            if kind == "newline" or text == ",":
                self._next()
            elif opening == "{":
                self._pair(keys)
            else:
                begun = self._at
                self._value((*keys, index))
                index += 1
                # An unreadable item does not advance; without this the loop would not stop.
                if self._at == begun:
                    self._next()


def _unquoted(text: str) -> str:
    try:
        # tomllib knows all escapes of a quoted key.
        return str(tomllib.loads(f"x = {text}")["x"])
    except tomllib.TOMLDecodeError:
        return text
