"""The form in which the source of a script is compiled: no text of a script can become long.

A single operation of Lua runs between two checks of the guard, however long its texts are. So the
length of texts is bounded where they are made. Literals are measured here. Each concatenation
``a .. b`` becomes ``a .. join .. b``, where `join` is an object of the sandbox that joins two texts
only if the result is short enough (``data/lua/sandbox.lua``). Lines keep their numbers.

A script has no texts with a zero byte, blanks take their place: Lua compares such texts piece by
piece between the zeros, which takes a hundred times as long. Source: the operators of Lua's
reference manual, and the measurements in docs/guides/hardening.md#scripts.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Final

from emu.errors import ScriptError

LONGEST_TEXT: Final = 65_536
"""Bytes of any text that a script can have."""

_SKIP: Final = r"\\(?:z\s*+|\r\n|\n\r|.)"
"""An escape sequence of a literal; `\\z` skips blanks and line breaks."""
# Comments, literals, `...` and `..`. A long bracket without an end takes the rest, so that the
# time stays proportional to the source.
_TOKEN: Final = re.compile(
    r"--\[(=*+)\[(?:.*?\]\1\]|.*+)|--[^\r\n]*+"
    r"|\[(=*+)\[(?:.*?\]\2\]|.*+)"
    rf'|"(?:[^"\\\r\n]|{_SKIP})*+"?'
    rf"|'(?:[^'\\\r\n]|{_SKIP})*+'?"
    r"|\.\.\.?+",
    re.DOTALL,
)
_JOIN: Final = re.compile("join[0-9]++")
_ESCAPE: Final = re.compile(r"\\(?:000|00?+(?![0-9])|x00|u\{0++\}|(.))", re.DOTALL)
"""An escape sequence; without a group it stands for a zero byte."""


def prepared(source: str, path: str) -> str:
    """Return the source of a script in the form that the sandbox compiles.

    Raises `ScriptError` with the line of a text that is too long.
    """
    source = source.replace("\0", " ")
    # A name that the script does not have: it cannot give it another meaning.
    used = set(_JOIN.findall(source))
    join = next(name for name in map("join{}".format, count()) if name not in used)

    def replaced(found: re.Match[str]) -> str:
        text = found[0]
        if text == "..":
            return f".. {join} .."
        if text[0] in "\"'[" and len(text) > LONGEST_TEXT:
            line = source.count("\n", 0, found.start()) + 1
            raise ScriptError(path, line, f"has a text of more than {LONGEST_TEXT} bytes")
        if text[0] in "\"'" and "\\" in text:
            return _ESCAPE.sub(lambda one: one[0] if one[1] else r"\32", text)
        return text

    return f"local _ENV, {join} = ...; {_TOKEN.sub(replaced, source)}"
