"""Things that scripts name by number: what they give, take and ask for.

The sources are read and not run, so a number counts if it is written in the call, or if it is the
only value of the name that is written there. Source: docs/guides/items.md#stand-ins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.signatures import Signature, read_unsigned
from emu.scripts.source import LuaCall, LuaWord, comments, constants, read_source, text_of

LARGEST: Final = 0x7FFFFFFF
"""The largest number of a thing."""
LONGEST_NAME: Final = 48
ITEM: Final = "item"
"""What the signatures call an argument that is the number of a thing. `usable_item` of AddQuestStep
is none: scripts have numbers of spawns there."""
LISTS: Final = frozenset((
    "AddQuestStepCraft", "AddQuestStepHarvest", "AddQuestStepObtainItem", "GiveLoot",
    "GiveQuestItem",
))  # fmt: skip
"""Functions whose further arguments are numbers of things."""
_STEP_TEXT: Final = 2
"""The place of a step's text in the arguments of functions that add a step."""
_STEPS: Final = "AddQuestStep"
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_GENERAL: Final = frozenset(("id", "item", "items", "quest", "reward"))
"""Words of a variable that name no thing."""
_COMMENT: Final = re.compile(r"[A-Za-z][\w' -]*")


class _Name(NamedTuple):
    """A name that a script has for a thing; the least one counts."""

    rank: int
    """0 a variable, 1 a comment, 2 the text of a quest's step, 3 none."""
    text: str


_NONE: Final = _Name(3, "")


def things_of_scripts(folder: ScriptFolder, known: Mapping[str, Signature]) -> dict[int, str]:
    """Return the numbers of the things that scripts name, each with a name or an empty text.

    `known` are the functions for scripts with their arguments. A name comes from the variable that
    has the number, from a comment on the line, or from the text of a quest's step. Files that
    cannot be read are left out.
    """
    wanted = {
        name
        for name, signature in known.items()
        if name in LISTS or any(one.name == ITEM for one in signature.arguments)
    }
    found: dict[int, _Name] = {}
    for path in folder.files():
        try:
            source = folder.read_file(path).decode("latin-1")
        except ScriptError:
            continue
        for number, name in _things(source, known, wanted):
            found[number] = min(found.get(number, _NONE), name)
    return {number: name.text for number, name in sorted(found.items())}


def _things(
    source: str, known: Mapping[str, Signature], wanted: Collection[str]
) -> Iterator[tuple[int, _Name]]:
    """Yield each thing that one source names."""
    if not any(name in source for name in wanted):
        return
    remarks, values = comments(source), constants(source)
    for call in read_source(source, wanted).calls:
        for word in _items(call, known):
            written = values.get(word.text, "") if word.kind == "name" else text_of(word)
            number = read_unsigned(written)
            if 0 < number <= LARGEST:
                yield number, _name(call, word, remarks)


def _items(call: LuaCall, known: Mapping[str, Signature]) -> Iterator[LuaWord]:
    """Yield the arguments of a call that are things."""
    if call.arguments is None:
        return
    declared = known[call.name].arguments
    for at, word in enumerate(call.arguments):
        is_item = declared[at].name == ITEM if at < len(declared) else call.name in LISTS
        if is_item and word is not None:
            yield word


def _name(call: LuaCall, word: LuaWord, remarks: Mapping[int, str]) -> _Name:
    """Return the best name that a call has for one of its things."""
    if word.kind == "name":
        parts = [one for one in _WORDS.findall(word.text) if one.lower() not in _GENERAL]
        text = " ".join(parts).title()
        if any(one.isalpha() for one in parts) and len(text) <= LONGEST_NAME:
            return _Name(0, text)
    remark = remarks.get(word.line, "")
    if len(remark) <= LONGEST_NAME and _COMMENT.fullmatch(remark):
        return _Name(1, remark)
    if call.name.startswith(_STEPS) and call.arguments is not None:
        step = call.arguments[_STEP_TEXT]
        if step is not None and step.kind == "text":
            return _Name(2, _shortened(text_of(step)))
    return _NONE


def _shortened(text: str) -> str:
    """Return the first words of a text."""
    whole = " ".join(text.split())
    if len(whole) <= LONGEST_NAME:
        return whole.rstrip(".")
    return whole[: LONGEST_NAME - 3].rpartition(" ")[0] + "..."
