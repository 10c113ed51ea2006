"""The files of scripts: found by the names of rows, loaded when first needed, read anew, dropped.

A large file is compiled in the background; calls of it wait meanwhile. The names of files that
cannot run are remembered, up to a limit, since scripts can invent names.
Source: docs/guides/lua.md#running.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from emu.errors import ScriptError
from emu.scripts.compiling import Compiling, NotCompiled
from emu.scripts.folder import ScriptFolder
from emu.scripts.runtime import Environment, Runtime
from emu.world.minds.errors import ScriptErrors

Stamp = tuple[tuple[int, int] | None, ...]
MOST_FAILURES: Final = 3
"""Calls in a row that need too much, until a file is switched off."""
MOST_AWAITED: Final = 20_000
"""Calls that wait until their file is compiled: a large zone has two for each spawn."""
MOST_UNLOADED: Final = 500
"""Names of files that cannot run and are remembered: scripts can invent names, and each second the
server looks whether such a file is there now."""
MOST_UNLOADED_LINES: Final = 1_000
"""Files that cannot run and have a line for operators; further ones are only counted."""


@dataclass(slots=True)
class ScriptFile:
    """A loaded file."""

    path: str
    environment: Environment
    stamp: Stamp
    """That of the file and its modules when they were read."""
    failures: int = 0
    """Calls that failed since the last one that did not."""

    @property
    def is_switched_off(self) -> bool:
        """Whether too many calls in a row needed too much."""
        return self.failures >= MOST_FAILURES


class ScriptFiles:
    """The loaded files of a world, by the names that rows give them."""

    def __init__(
        self,
        folder: ScriptFolder,
        new_runtime: Callable[[], Runtime],
        *,
        counters: Counter[str],
        reports: ScriptErrors,
        report: Callable[[str], object],
        compiling: Compiling | None,
        renewed: Callable[[str], object],
        have_awaited: Callable[[], object],
    ) -> None:
        """Make the first runtime. `report` writes a line for operators.

        Large files are compiled by `compiling`; without it they are where they are needed.
        `renewed` is called with the path of a file that has changed and was read again.
        `have_awaited` is called when calls can be carried out that have waited for a file.
        """
        self._folder = folder
        self._new_runtime = new_runtime
        self._counters = counters
        self._reports = reports
        self._report = report
        self._compiling = compiling
        self._renewed = renewed
        self._have_awaited = have_awaited
        self.runtime = new_runtime()
        """The one that loads files now."""
        self._files: dict[str, ScriptFile | None] = {}
        self._by_path: dict[str, ScriptFile] = {}
        """The loaded files: two rows may name one with other letters."""
        self._awaited: dict[str, list[Callable[[], object]]] = {}
        """Calls of files that are compiled now, by the names of rows."""
        self._ready: deque[Callable[[], object]] = deque()
        """Calls whose files are compiled."""
        self._dropped: list[ScriptFile] = []
        """Forgotten files with globals: to let go of thousands takes several turns."""
        self._unloaded: dict[str, tuple[int, int] | None] = {}
        """The stamps of files that do not load, by the names of rows; the oldest one is first."""
        self._unseen: list[str] = []
        """Names of files at which `renew_some` has not looked yet."""
        self._unloaded_lines = 0
        """Lines about files that cannot run, since all files were read."""

    # -- looking up -------------------------------------------------------------------------------

    def find(self, name: str) -> str:
        """Return a file's name if there is exactly this file, else an empty text."""
        return name if self._folder.has(name) else ""

    def names_in(self, folder: str) -> frozenset[str]:
        """Return the exact names of the files in a folder of scripts; none without it."""
        return self._folder.names_in(folder)

    def has_file(self, name: str) -> bool | None:
        """Load a file by the name of a row; return whether it can run.

        None while it is being compiled.
        """
        return self.get(name) is not None or (None if name in self._awaited else False)

    def prepare(self, name: str) -> None:
        """Read a file before it is needed; a large one is compiled meanwhile."""
        self.get(name)

    def switched_off(self) -> list[str]:
        """Return the files that are switched off."""
        return [
            file.path for file in self._files.values()
            if file is not None and file.is_switched_off
        ]  # fmt: skip

    def get(self, name: str) -> ScriptFile | None:
        """Return a loaded file by the name of a row; None if there is none that can run."""
        if name not in self._files:
            if name in self._awaited:
                return None
            try:
                self._files[name] = self._loaded(name)
            except NotCompiled as missing:
                self._awaited[name] = []
                self._compile(missing.path, partial(self._is_compiled, name))
                return None
            if self._files[name] is None:
                self._remember_unloaded(name)
                return None
        return self._files[name]

    def runnable(self, name: str) -> ScriptFile | None:
        """Return a file that can run; one that is switched off can when it has changed."""
        file = self.get(name)
        if file is None or (file.is_switched_off and not self._has_changed(file)):
            return None
        return file

    def _loaded(self, name: str) -> ScriptFile | None:
        path = self._folder.find(name)
        if path is None:
            self._counters["files missing"] += 1
            self._report_unloaded(f"there is no script {name!r}")
            return None
        # Two rows may name one file with other letters: its globals are the same.
        if (known := self._by_path.get(path)) is not None:
            return known
        try:
            environment = self.runtime.load(path)
        except NotCompiled:
            raise
        except ScriptError as error:
            self._counters["files that do not load"] += 1
            self._report_unloaded(f"script not loaded: {error}")
            return None
        made = self._by_path[path] = ScriptFile(path, environment, self._stamp(path, environment))
        return made

    def _stamp_of(self, name: str) -> tuple[int, int] | None:
        path = self._folder.find(name)
        return self._folder.stamp(path) if path is not None else None

    def _stamp(self, path: str, environment: Environment) -> Stamp:
        return tuple(self._folder.stamp(one) for one in (path, *sorted(environment.required)))

    def _remember_unloaded(self, name: str) -> None:
        self._unloaded[name] = self._stamp_of(name)
        if len(self._unloaded) > MOST_UNLOADED:
            oldest = next(iter(self._unloaded))
            del self._unloaded[oldest]
            if self._files.get(oldest) is None:
                self._files.pop(oldest, None)

    def _report_unloaded(self, line: str) -> None:
        """Write a line for operators about a file that cannot run, unless there were too many."""
        self._unloaded_lines += 1
        if self._unloaded_lines <= MOST_UNLOADED_LINES:
            self._report(line)
        elif self._unloaded_lines == MOST_UNLOADED_LINES + 1:
            self._report("further scripts that cannot run are only counted")

    # -- files that are being compiled -----------------------------------------------------------

    def is_awaited(self, name: str) -> bool:
        """Return whether a file is being compiled: calls of it do nothing until then."""
        self.get(name)
        return name in self._awaited

    def when_compiled(self, name: str, act: Callable[[], object]) -> None:
        """Carry out an act once a file is compiled that is being compiled now."""
        awaited = self._awaited.get(name)
        if awaited is None:
            return
        if len(awaited) < MOST_AWAITED:
            awaited.append(act)
        else:
            self._counters["calls of files that are being compiled"] += 1

    def has_compiled(self, path: str) -> bool:
        """Return whether a file need not be compiled; also for another thread."""
        return self.runtime.has_compiled(path)

    def carry_out_some(self, may_go_on: Callable[[], bool]) -> bool:
        """Carry out calls that have waited, in their order; return whether all are done."""
        while self._ready:
            self._ready.popleft()()
            if not may_go_on():
                break
        return not self._ready

    def _compile(self, path: str, then: Callable[[], object]) -> None:
        assert self._compiling is not None  # noqa: S101  # else the runtime compiles itself
        compiler, in_background = self._compiling
        in_background(partial(compiler.compile, [path], self.has_compiled), then)

    def _is_compiled(self, name: str) -> None:
        self._ready.extend(self._awaited.pop(name, ()))
        self._have_awaited()

    # -- changed files --------------------------------------------------------------------------

    def look_again(self) -> None:
        """Let `renew_some` look at all known files, unless it has not seen all of them yet."""
        if not self._unseen:
            self._unseen = list(self._files)

    def renew_some(self, most: int) -> int:
        """Look at some files, and read those anew that have changed; return how many there were.

        Timers, talks and nearness stay, and `spawn` is not called again.
        """
        seen = self._unseen[-most:]
        del self._unseen[-most:]
        return sum(self._renew_changed(name) for name in seen)

    @property
    def has_unseen(self) -> bool:
        """Whether `renew_some` has not looked at all files yet."""
        return bool(self._unseen)

    def _renew_changed(self, name: str) -> bool:
        """Read a file anew if it has changed; return whether it was read."""
        file = self._files.get(name)
        if file is not None:
            return self._has_changed(file)
        if name in self._files and self._stamp_of(name) != self._unloaded.get(name):
            # It is there now, or may parse: the next call loads it.
            del self._files[name]
            self._unloaded.pop(name, None)
        return False

    def _has_changed(self, file: ScriptFile) -> bool:
        """Read a file anew if it has changed; return whether it was read."""
        return self._stamp(file.path, file.environment) != file.stamp and self._renew(file)

    def _renew(self, file: ScriptFile) -> bool:
        for path in (file.path, *file.environment.required):
            self.runtime.forget(path)
        # Also if it does not load: then it is tried again when it has changed once more.
        old, file.stamp = file.stamp, self._stamp(file.path, file.environment)
        try:
            before, file.environment = file.environment, self.runtime.load(file.path)
            before.end()
        except NotCompiled as missing:
            file.stamp = old  # the next check tries again
            self._compile(missing.path, lambda: None)
            return False
        except ScriptError as error:
            self._counters["files that do not load"] += 1
            self._report(f"script not loaded, its old form stays: {error}")
            return False
        file.stamp = self._stamp(file.path, file.environment)
        file.failures = 0
        self._reports.read_again(file.path)
        self._report(f"{file.path} has changed and was read again")
        self._renewed(file.path)
        return True

    # -- forgetting -----------------------------------------------------------------------------

    def reload(self) -> str:
        """Read all files anew when they are next needed; return one line that sums up.

        Timers, talks and nearness stay, and `spawn` is not called again.
        """
        count = sum(one is not None for one in self._files.values())
        self.keep(())
        for file in self._files.values():
            if file is not None:
                file.environment.end()
        self._files.clear()
        self._by_path.clear()
        self._unloaded.clear()
        self._unloaded_lines = 0
        self._folder.forget()
        self.runtime = self._new_runtime()
        self._reports.read_again()
        return f"{count} scripts will be read again"

    def keep(self, names: Collection[str]) -> None:
        """Forget all files but those that rows of these names need.

        Those that are switched off stay.
        """
        names = set(names)
        dropped: list[ScriptFile | None] = []
        for name, file in list(self._files.items()):
            if name not in names and (file is None or not file.is_switched_off):
                del self._files[name]
                self._unloaded.pop(name, None)
                dropped.append(file)
        files = [file for file in self._files.values() if file is not None]
        used = {id(file) for file in files}
        for file in dropped:
            # Another name of the file may still be in use.
            if file is not None and id(file) not in used:
                self._by_path.pop(file.path, None)
                self._dropped.append(file)
        paths = {file.path for file in files}.union(*(one.environment.required for one in files))
        self.runtime.keep(paths)
        if self._compiling is not None:
            self._compiling.compiler.keep(paths.union(names))
        self.runtime.begin_collection()

    def collect_some(self, may_go_on: Callable[[], bool]) -> bool:
        """Free some of what files had that `keep` has forgotten; return whether all is freed.

        Lua itself would do it only when scripts need more memory.
        """
        while self._dropped:
            self._dropped.pop().environment.end()
            if not may_go_on():
                return False
        return self.runtime.collect_some(may_go_on)
