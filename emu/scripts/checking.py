"""Checks scripts without running them, and counts how many find all their functions.

The caller says which functions there are; see docs/guides/lua.md#checking.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from emu.errors import ScriptError
from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import Environment, Runtime
from emu.scripts.signatures import ScriptArgument, Signature
from emu.scripts.source import LuaCall, LuaWord, SourceFacts, read_source

LIBRARY: Final = frozenset((
    "assert", "error", "ipairs", "next", "pairs", "print", "rawequal", "rawget", "rawlen",
    "select", "tonumber", "tostring", "type", "require", "dofile",
))  # fmt: skip
"""The functions of Lua's own library that scripts can call by a global name."""
REMOVED: Final = frozenset((
    "load", "loadstring", "loadfile", "pcall", "xpcall", "setmetatable", "getmetatable", "rawset",
    "collectgarbage",
))  # fmt: skip
"""Functions of Lua that scripts do not have here."""
LIKENESS: Final = 0.6
"""How much a name must be like another to be proposed."""
TRIED: Final = ("prespawn", "spawn", "respawn", "hailed")
"""The events that are called to find loops without an end."""
DOUBTFUL: Final = frozenset(("global",))
"""Kinds of findings that are no errors: such a script does what its author meant, perhaps not only
that. All other kinds end a script, or leave out a part of it."""
_NUMBERS: Final = frozenset("unf1")
_TOO_LONG: Final = "took too long"


class ScriptFinding(NamedTuple):
    """One thing that is wrong, or doubtful, in a script."""

    path: str
    line: int
    kind: str
    """``compile``, ``unknown``, ``arguments``, ``module``, ``global`` and ``loop``; ``load`` and
    ``missing`` come from `emu content check`."""
    text: str

    @property
    def is_error(self) -> bool:
        """Whether the script does not work because of it."""
        return self.kind not in DOUBTFUL

    def __str__(self) -> str:
        """Return the finding as a line."""
        return f"{self.path}:{self.line}: {self.text}"


@dataclass(slots=True)
class Coverage:
    """How many scripts of one kind find all the functions that they call."""

    files: int = 0
    own: int = 0
    """By their own calls."""
    with_modules: int = 0
    """By their own calls and those of their modules."""
    missing: Counter[str] = field(default_factory=Counter)
    """The functions that do nothing yet, and how many files or their modules call each."""
    alone: Counter[str] = field(default_factory=Counter)
    """Those of them that are the only one that a file lacks."""

    def shares(self) -> tuple[float, float]:
        """Return both shares in percent."""
        count = self.files or 1
        return 100 * self.own / count, 100 * self.with_modules / count


@dataclass(slots=True)
class Checker:
    """Checks the files of a folder; keeps what it has read of modules."""

    folder: ScriptFolder
    known: Mapping[str, Signature]
    """All functions for scripts by name, also those that do nothing yet."""
    working: Collection[str]
    """The names of those that do something."""
    _facts: dict[str, SourceFacts] = field(default_factory=dict)

    def facts(self, path: str) -> SourceFacts:
        """Return what the source of a file says. Raises `ScriptError` if it cannot be read."""
        found = self._facts.get(path)
        if found is None:
            source = self.folder.read_file(path).decode("latin-1")
            found = self._facts[path] = read_source(source, self.known)
        return found

    def check(self, path: str, runtime: Runtime) -> list[ScriptFinding]:
        """Return what is wrong in a file; without a file that parses, only that."""
        try:
            runtime.check(path)
            facts = self.facts(path)
        except ScriptError as error:
            return [ScriptFinding(path, error.line, "compile", error.text)]
        found = list(self._calls(path, facts))
        found += [
            ScriptFinding(path, line, "module", f"there is no module {name!r}")
            for name, line in facts.modules
            if self.folder.find(name) is None
        ]
        found += [
            ScriptFinding(path, line, "global", f"{name} is set in a function and is not local")
            for name, line in facts.leaked.items()
        ]
        return sorted(found)

    def modules(self, path: str) -> dict[str, SourceFacts]:
        """Return all files that a file loads, also through others, by path."""
        found: dict[str, SourceFacts] = {}
        waiting = [path]
        while waiting:
            for name, _ in self.facts(waiting.pop()).modules:
                module = self.folder.find(name)
                if module is not None and module not in found and module != path:
                    try:
                        found[module] = self.facts(module)
                    except ScriptError:
                        continue
                    waiting.append(module)
        return found

    def by_kind(self, broken: Collection[str]) -> dict[str, list[str]]:
        """Return all files but the broken ones by their first folder, which says their kind."""
        kinds: dict[str, list[str]] = {}
        for path in self.folder.files():
            if path not in broken:
                kinds.setdefault(path.partition("/")[0], []).append(path)
        return dict(sorted(kinds.items()))

    def count(self, paths: Iterable[str]) -> Coverage:
        """Return how many of the files find all functions that they call."""
        coverage = Coverage()
        for path in paths:
            coverage.files += 1
            own = self._lacking(self.facts(path))
            modules = self.modules(path).values()
            lacking = own.union(*(self._lacking(facts) for facts in modules))
            coverage.own += not own
            coverage.with_modules += not lacking
            coverage.missing.update(lacking)
            if len(lacking) == 1:
                coverage.alone.update(lacking)
        return coverage

    def _lacking(self, facts: SourceFacts) -> set[str]:
        """Return the functions of the list that a file calls and that do nothing yet."""
        return {
            call.name
            for call in facts.calls
            if call.name in self.known
            and call.name not in self.working
            and call.name not in facts.defined
        }

    def _calls(self, path: str, facts: SourceFacts) -> Iterator[ScriptFinding]:
        theirs = {name for module in self.modules(path).values() for name in module.defined}
        for call in facts.calls:
            if call.name in facts.defined or call.name in theirs or call.name in LIBRARY:
                continue
            signature = self.known.get(call.name)
            if signature is None:
                yield ScriptFinding(path, call.line, "unknown", self._unknown(call.name))
            elif call.arguments is not None:
                for text in wrong_arguments(call, signature):
                    yield ScriptFinding(path, call.line, "arguments", text)

    def _unknown(self, name: str) -> str:
        if name in REMOVED:
            return f"scripts have no {name}"
        near = difflib.get_close_matches(name, self.known, n=1, cutoff=LIKENESS)
        return f"there is no function {name}" + (f"; is it {near[0]}?" if near else "")


def wrong_arguments(call: LuaCall, signature: Signature) -> Iterator[str]:
    """Yield what is wrong with the number and the kinds of a call's arguments."""
    arguments = call.arguments or ()
    # A call with a function's results as its last argument may have more than are written.
    least, most = signature.least, len(signature.arguments)
    takes = f"{call.name} takes {signature or 'nothing'}"
    if len(arguments) > most and not signature.more:
        yield f"{takes}: {len(arguments)} arguments are too many"
    elif len(arguments) < least and None not in arguments[-1:]:
        yield f"{takes}: {len(arguments)} arguments are too few"
    for word, argument in zip(arguments, signature.arguments, strict=False):
        kind = _wrong_kind(word, argument) if word is not None else ""
        if kind:
            yield f"{takes}: {kind} is no {argument.name}"


def _wrong_kind(word: LuaWord, argument: ScriptArgument) -> str:
    """Return what a literal is in words, if it becomes 0, empty or missing as this argument."""
    is_number = argument.letter in _NUMBERS
    if word.kind == "text" and (is_number or argument.letter.isupper()):
        text = word.text.strip("\"' ")
        if argument.letter.isupper() or not text.lstrip("+-").replace(".", "", 1).isdigit():
            return f"the text {word.text[:40]}"
    if word.kind == "number":
        if argument.letter.isupper():
            return f"the number {word.text}"
        if argument.letter == "n" and "." in word.text and float(word.text) % 1:
            return f"the fraction {word.text}"
    # False is 0 and empty as well: only true is lost.
    if word.text == "true" and argument.letter not in "bv":
        return f"the truth {word.text}"
    return ""


def endless(
    runtime: Runtime, env: Environment, values: tuple[object, ...]
) -> Iterator[ScriptFinding]:
    """Call the usual events of a loaded file; yield those that the guard had to stop.

    The caller gives the runtime functions that do nothing, so that only loops take long.
    """
    for event in TRIED:
        try:
            runtime.call(env, event, *values)
        except ScriptError as error:
            if _TOO_LONG in error.text:
                yield ScriptFinding(env.path, error.line, "loop", f"{event} does not end")
