"""Compiles scripts in another thread than the one that runs them.

A file of 800 kB takes 20 ms to compile, and some of 200 kB take seconds, in which a server would
serve nobody. `Compiler` compiles in a Lua runtime of its own. What it makes waits in memory until
the runtime of the scripts takes it: that loads no compiled form from anywhere else, because Lua
does not check one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, NamedTuple

from emu.errors import ScriptError
from emu.files import data_file
from emu.scripts.folder import ENCODING, ScriptFolder, Stamp
from emu.scripts.forms import prepared
from emu.scripts.places import compile_error

COMPILE: Final = "compile.lua"
MOST_SECONDS: Final = 0.5
"""CPU time of a file; the community's longest one takes 0.02 s."""
MOST_MEMORY: Final = 128 * 1024 * 1024
"""Bytes of the runtime that compiles."""
TOO_LARGE: Final = "is too large to compile"
_MODULE: Final = re.compile(rb"""\b(require|dofile)\s*\(?\s*["']([^"'\r\n]{1,200})["']""")
"""A file that another one loads, where its name stands in the source."""


Background = Callable[[Callable[[], object], Callable[[], object]], object]
"""Carries out the first call in a thread, and then the second one where it was asked."""


class NotCompiled(ScriptError):
    """A file must be compiled in a thread before it can run."""

    def __init__(self, path: str) -> None:
        super().__init__(path, 0, "is not compiled yet")


class _Made(NamedTuple):
    stamp: Stamp | None
    code: bytes | ScriptError


class Compiler:
    """Compiled forms of files that wait for the runtime that runs them."""

    def __init__(self, folder: ScriptFolder, new_runtime: Callable[[int], Any]) -> None:
        """`new_runtime` returns a Lua runtime of so many bytes, whose texts are bytes."""
        self._folder = folder
        self._new_runtime = new_runtime
        self._compile: Any = None
        """Lua's function; only the thread uses it."""
        self._made: dict[str, _Made] = {}

    # -- for the thread ---------------------------------------------------------------------------

    def compile(self, names: Iterable[str], is_known: Callable[[str], bool]) -> None:
        """Compile files by the names of rows, with the modules that they name.

        `is_known` says whether a path is compiled elsewhere.
        """
        waiting = [path for name in names if (path := self._folder.find(name)) is not None]
        seen = set(waiting)
        while waiting:
            path = waiting.pop()
            if is_known(path) or self._is_ready(path):
                continue
            for module in self._compile_file(path):
                found = self._folder.find(module)
                if found is not None and found not in seen:
                    seen.add(found)
                    waiting.append(found)

    def _is_ready(self, path: str) -> bool:
        made = self._made.get(path)
        return made is not None and made.stamp == self._folder.stamp(path)

    def _compile_file(self, path: str) -> list[str]:
        """Compile one file; return the names of the files that it loads."""
        stamp = self._folder.stamp(path)
        try:
            source = self._folder.read_file(path)
            self._made[path] = _Made(stamp, self._code(source, path))
        except ScriptError as error:
            self._made[path] = _Made(stamp, error)
            return []
        return [
            name.decode(ENCODING) + (".lua" if loader == b"require" else "")
            for loader, name in _MODULE.findall(source)
        ]

    def _code(self, source: bytes, path: str) -> bytes:
        text = prepared(source.decode(ENCODING), path).encode(ENCODING)
        if self._compile is None:
            names = self._new_runtime(MOST_MEMORY).globals()
            self._compile = names[b"load"](data_file("lua", COMPILE).read_bytes(), b"@compile")()[1]
        try:
            found = self._compile(text, path.encode("utf-8", "surrogateescape"), MOST_SECONDS)
        except MemoryError as error:
            self._compile = None
            raise ScriptError(path, 0, TOO_LARGE) from error
        if isinstance(found, bytes):
            return found
        raise compile_error(path, found[1].decode(ENCODING))

    # -- for the thread of the runtime ------------------------------------------------------------

    def take_compiled(self, path: str, stamp: Stamp | None) -> bytes | None:
        """Return the compiled form of a file as it is now, once; None if it is not compiled.

        Raises `ScriptError` if the file does not compile.
        """
        made = self._made.get(path)
        if made is None or made.stamp != stamp:
            return None
        if isinstance(made.code, ScriptError):
            raise made.code
        self._made.pop(path, None)
        return made.code

    def keep(self, paths: Collection[str]) -> None:
        """Forget all other files."""
        self._made = {path: one for path, one in self._made.items() if path in paths}


class Compiling(NamedTuple):
    """What a host of scripts needs to have files compiled in a thread."""

    compiler: Compiler
    in_background: Background
