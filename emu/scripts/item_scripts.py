"""The item scripts of things of which nothing else is known.

Only the table `items` says which script a thing has. Without it, a thing and an item script belong
together if the script takes this thing away and no other one, and no other item script takes it:
what begins a quest, for instance, goes when the quest is taken. They also do if a quest connects
them: scripts that give the thing ask for the quest, and the item script is the only one that offers
this quest and offers no other. A thing that fits several item scripts gets none, and neither does a
script that fits several things. The sources are read and not run.

Source: docs/guides/items.md#stand-ins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.signatures import Signature, read_unsigned
from emu.scripts.source import LuaCall, constants, read_source, text_of

FOLDER: Final = "ItemScripts/"
OFFERS: Final = "OfferQuest"
TAKES: Final = "RemoveItem"
GIVES: Final = frozenset(("GiveQuestItem", "SummonItem"))
ASKS: Final = frozenset(("CanReceiveQuest", "GetQuestStep", "HasCompletedQuest", "HasQuest"))
_WANTED: Final = GIVES | ASKS | {OFFERS, TAKES}
ITEM, QUEST = "item", "quest"
"""What the signatures call the arguments."""


def item_scripts_of(folder: ScriptFolder, known: Mapping[str, Signature]) -> dict[int, str]:
    """Return the paths of item scripts by the numbers of the things to which they belong.

    `known` are the functions for scripts with their arguments. Files that cannot be read are left
    out.
    """
    offering: dict[int, list[str]] = {}
    taking: dict[int, list[str]] = {}
    """By things, the item scripts that take them away; empty for those that take several."""
    connected: list[tuple[set[int], set[int]]] = []
    for path in folder.files():
        try:
            source = folder.read_file(path).decode("latin-1")
        except ScriptError:
            continue
        if path.startswith(FOLDER):
            offered = set(_numbers(source, known, {OFFERS}, QUEST))
            if len(offered) == 1:
                offering.setdefault(offered.pop(), []).append(path)
            taken = set(_numbers(source, known, {TAKES}, ITEM))
            for thing in taken:
                taking.setdefault(thing, []).append(path if len(taken) == 1 else "")
        elif any(name in source for name in GIVES):
            given = set(_numbers(source, known, GIVES, ITEM))
            asked = set(_numbers(source, known, ASKS, QUEST))
            connected.append((given, asked))
    only = {quest: paths[0] for quest, paths in offering.items() if len(paths) == 1}
    fitting: dict[int, set[str]] = {}
    for given, asked in connected:
        paths = {only[quest] for quest in asked if quest in only}
        for thing in given:
            fitting.setdefault(thing, set()).update(paths)
    one = {thing: next(iter(paths)) for thing, paths in fitting.items() if len(paths) == 1}
    things = [*one.values()]
    found = {thing: path for thing, path in one.items() if things.count(path) == 1}
    own = {thing: paths[0] for thing, paths in taking.items() if len(paths) == 1 and paths[0]}
    found = {thing: path for thing, path in found.items() if path not in own.values()}
    return dict(sorted((found | own).items()))


def _numbers(
    source: str, known: Mapping[str, Signature], names: Collection[str], argument: str
) -> Iterator[int]:
    """Yield what the calls of some functions have as an argument of this name."""
    values = constants(source)
    for call in read_source(source, _WANTED).calls:
        if call.name in names:
            number = _number(call, known[call.name], argument, values)
            if number > 0:
                yield number


def _number(call: LuaCall, signature: Signature, argument: str, values: Mapping[str, str]) -> int:
    """Return a number that is written in a call, or is the only value of a name; else 0."""
    at = next((at for at, one in enumerate(signature.arguments) if one.name == argument), None)
    if at is None or call.arguments is None or at >= len(call.arguments):
        return 0
    word = call.arguments[at]
    if word is None:
        return 0
    return read_unsigned(values.get(word.text, "") if word.kind == "name" else text_of(word))
