"""Calls into scripts: their files, loaded when they are first needed, and their errors.

An error ends the call that has it, and nothing else: many scripts of the community have a function
that always fails, and spawns keep them. A file whose calls need too much three times in a row is
switched off until `reload scripts`. Source: docs/guides/lua.md#running.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, Protocol

from emu.errors import ScriptError, ScriptLimitError
from emu.scripts.compiling import Compiling, NotCompiled
from emu.scripts.folder import ScriptFolder
from emu.scripts.own_time import OwnTime, own_time
from emu.scripts.runtime import Environment, Runtime
from emu.scripts.signatures import FunctionTable, Handle, bind, check_texts, merged
from emu.world.minds.errors import ScriptErrors
from emu.world.minds.pacing import CallPace
from emu.world.reports import Faults
from emu.world.scripts.bodies import Body, Home, given
from emu.world.scripts.stubs import stub_names

Stamp = tuple[tuple[int, int] | None, ...]
MOST_FAILURES: Final = 3
MOST_AWAITED: Final = 20_000
"""Calls that wait until their file is compiled: a large zone has two for each spawn."""
MOST_UNLOADED: Final = 500
"""Names of files that cannot run and are remembered: scripts can invent names, and each second the
server looks whether such a file is there now."""
MOST_UNLOADED_LINES: Final = 1_000
"""Files that cannot run and have a line for operators; further ones are only counted."""
EVENTS: Final = frozenset((
    "prespawn", "spawn", "respawn", "hailed", "hailed_busy", "hear_say", "targeted", "casted_on",
    "can_use_command", "aggro", "attacked", "auto_attack_tick", "healthchanged", "death", "killed",
    "group_dead", "CombatReset", "preinit_zone_script", "init_zone_script", "new_client",
    "player_entry", "player_loadcomplete", "signal_changed", "dusk", "dawn",
))  # fmt: skip
"""The events with a counter of their own."""
APPEARANCES: Final = frozenset(("prespawn", "spawn", "init_zone_script", "preinit_zone_script"))
"""Events of a zone that opens: each is called once for each spawn, in turns of the zone's own."""


class Chances(Protocol):
    """Random numbers, as `random.Random` gives them."""

    def uniform(self, a: float, b: float, /) -> float:
        """Return a number between two others."""

    def randint(self, a: int, b: int, /) -> int:
        """Return a whole number from a to b, both included."""


class CallAnswer(NamedTuple):
    """How a call of a script ended."""

    is_found: bool
    """Whether the script has the function."""
    value: Any = None
    """Its first result; None for a call that failed."""
    has_failed: bool = False
    values: tuple[Any, ...] = ()
    """All its results."""


NO_ANSWER: Final = CallAnswer(is_found=False)


@dataclass(slots=True)
class _File:
    path: str
    environment: Environment
    stamp: Stamp
    """That of the file and its modules when they were read."""
    failures: int = 0
    """Calls that failed since the last one that did not."""


class _Running(NamedTuple):
    """The globals in which a function runs, and what it acts for."""

    file: _File
    environment: Environment
    script: str
    """The name of the row."""
    subject: Any
    runtime: Runtime
    """The one that has made the globals; after `reload` a living cast still has those of before."""


class Calls:
    """The files of scripts, and the calls of their functions."""

    def __init__(
        self,
        folder: ScriptFolder,
        functions: Sequence[FunctionTable],
        *,
        faults: Faults,
        reports: ScriptErrors,
        chances: Chances,
        report: Callable[[str], object],
        compiling: Compiling | None = None,
        spent: OwnTime | None = None,
    ) -> None:
        """Make the runtime. `report` writes a line for operators.

        Large files are compiled by `compiling`; without it they are where they are needed. `spent`
        measures the calls: without it, this thread's processor time.

        Raises `ConfigError` if lupa is not installed.
        """
        self.chances = chances
        self.spent = spent or own_time()
        """Measures the calls."""
        self._step_seed: Callable[[], int | None] = getattr(chances, "step_seed", lambda: None)
        self._dropped: list[_File] = []
        """Forgotten files with globals: to let go of thousands takes several turns."""
        self.counters: Counter[str] = Counter()
        """Events and how they ended."""
        self.stubs: Counter[str] = Counter()
        """Calls of functions that this server does not have."""
        self._folder, self._faults = folder, faults
        self.reports = reports
        self._report = report
        ours = merged(functions)
        self._functions: dict[str, Callable[..., Any]] = {
            name: self._stub(name, value)
            for name, value in stub_names().items()
            if name not in ours
        }
        self._functions |= {name: bind(one, self, self._hold) for name, one in ours.items()}
        self._compiling = compiling
        self._runtime = self._new_runtime()
        self._files: dict[str, _File | None] = {}
        self._by_path: dict[str, _File] = {}
        """The loaded files: two rows may name one with other letters."""
        self._awaited: dict[str, list[Callable[[], object]]] = {}
        """Calls of files that are compiled now, by the names of rows."""
        self._ready: deque[Callable[[], object]] = deque()
        """Calls whose files are compiled."""
        self._apart: Counter[str] = Counter()
        """The globals of living casts, by the names of their files' rows."""
        self._runtimes: dict[int, Runtime] = {}
        """The runtimes of living casts, by the identities of their globals."""
        self._running = self._runtime
        """The runtime of the call that runs now."""
        self._unloaded: dict[str, tuple[int, int] | None] = {}
        """The stamps of files that do not load, by the names of rows; the oldest one is first."""
        self._unseen: list[str] = []
        """Names of files at which `renew_some` has not looked yet."""
        self._unloaded_lines = 0
        """Lines about files that cannot run, since all files were read."""
        self._pace = CallPace(self.counters)
        self._sender: tuple[str, int] = ("", 0)
        """The file that was called from outside, and the number of the zone."""
        self._depth = 0
        self.subject: Any = None
        """The living spell whose script runs; None in scripts of all other kinds."""
        self.used: Callable[[str, float], object] = lambda _path, _seconds: None
        """Counts the CPU time of a call for its file."""
        self.has_share: Callable[[str, int], bool] = lambda _path, _zone_id: True
        """Counts a message of a file in a zone; returns False if it sends too many."""
        self.is_silent = False
        """Whether the call that runs sends nothing."""

    def may_send(self) -> bool:
        """Count a message of the running call; return False if it must be dropped."""
        return not self.is_silent and self._pace.may_send() and self.has_share(*self._sender)

    # -- files ----------------------------------------------------

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
        self._runtime = self._running = self._new_runtime()
        self.reports.read_again()
        return f"{count} scripts will be read again"

    def switched_off(self) -> list[str]:
        """Return the files that are switched off."""
        return [
            file.path for file in self._files.values()
            if file is not None and file.failures >= MOST_FAILURES
        ]  # fmt: skip

    def keep(self, names: Collection[str]) -> None:
        """Forget the files that neither a row of these names nor a living cast needs.

        Those that are switched off stay.
        """
        names = {*names, *self._apart}
        dropped: list[_File | None] = []
        for name, file in list(self._files.items()):
            if name not in names and (file is None or file.failures < MOST_FAILURES):
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
        self._runtime.keep(paths)
        if self._compiling is not None:
            self._compiling.compiler.keep(paths.union(names))
        self._runtime.begin_collection()

    def collect_some(self, may_go_on: Callable[[], bool]) -> bool:
        """Free some of what files had that `keep` has forgotten; return whether all is freed.

        Lua itself would do it only when scripts need more memory.
        """
        while self._dropped:
            self._dropped.pop().environment.end()
            if not may_go_on():
                return False
        return self._runtime.collect_some(may_go_on)

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

    def _stamp_of(self, name: str) -> tuple[int, int] | None:
        path = self._folder.find(name)
        return self._folder.stamp(path) if path is not None else None

    def _stamp(self, path: str, environment: Environment) -> Stamp:
        return tuple(self._folder.stamp(one) for one in (path, *sorted(environment.required)))

    def _has_changed(self, file: _File) -> bool:
        """Read a file anew if it has changed; return whether it was read."""
        return self._stamp(file.path, file.environment) != file.stamp and self._renew(file)

    def _renew(self, file: _File) -> bool:
        for path in (file.path, *file.environment.required):
            self._runtime.forget(path)
        # Also if it does not load: then it is tried again when it has changed once more.
        old, file.stamp = file.stamp, self._stamp(file.path, file.environment)
        try:
            before, file.environment = file.environment, self._runtime.load(file.path)
            before.end()
        except NotCompiled as missing:
            file.stamp = old  # the next check tries again
            self._compile(missing.path, lambda: None)
            return False
        except ScriptError as error:
            self.counters["files that do not load"] += 1
            self._report(f"script not loaded, its old form stays: {error}")
            return False
        file.stamp = self._stamp(file.path, file.environment)
        file.failures = 0
        self.reports.read_again(file.path)
        self._report(f"{file.path} has changed and was read again")
        self.renewed(file.path)
        return True

    def renewed(self, path: str) -> None:
        """Act on a file that has changed and was read again."""

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
        return self._file(name) is not None or (None if name in self._awaited else False)

    def when_compiled(self, name: str, act: Callable[[], object]) -> None:
        """Carry out an act once a file is compiled that is being compiled now."""
        awaited = self._awaited.get(name)
        if awaited is not None:
            awaited.append(act)

    def _new_runtime(self) -> Runtime:
        return Runtime(
            self._folder, self._functions, seed=self.chances.randint(0, 2**31 - 1),
            compiler=self._compiling.compiler if self._compiling is not None else None,
            spent=self.spent,
        )  # fmt: skip

    def has_compiled(self, path: str) -> bool:
        """Return whether a file need not be compiled; also for another thread."""
        return self._runtime.has_compiled(path)

    def _compile(self, path: str, then: Callable[[], object]) -> None:
        assert self._compiling is not None  # noqa: S101  # else the runtime compiles itself
        compiler, in_background = self._compiling
        in_background(partial(compiler.compile, [path], self.has_compiled), then)

    def _is_compiled(self, name: str) -> None:
        self._ready.extend(self._awaited.pop(name, ()))
        self.have_awaited()

    def have_awaited(self) -> None:
        """Carry out the calls that have waited for a file, now or soon."""
        self.carry_out_some(lambda: True)

    def carry_out_some(self, may_go_on: Callable[[], bool]) -> bool:
        """Carry out calls that have waited, in their order; return whether all are done."""
        while self._ready:
            self._ready.popleft()()
            if not may_go_on():
                break
        return not self._ready

    def _file(self, name: str) -> _File | None:
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

    def prepare(self, name: str) -> None:
        """Read a file before it is needed; a large one is compiled meanwhile."""
        self._file(name)

    def is_awaited(self, name: str) -> bool:
        """Return whether a file is being compiled: calls of it do nothing until then."""
        self._file(name)
        return name in self._awaited

    def _loaded(self, name: str) -> _File | None:
        path = self._folder.find(name)
        if path is None:
            self.counters["files missing"] += 1
            self._report_unloaded(f"there is no script {name!r}")
            return None
        # Two rows may name one file with other letters: its globals are the same.
        if (known := self._by_path.get(path)) is not None:
            return known
        try:
            environment = self._runtime.load(path)
        except NotCompiled:
            raise
        except ScriptError as error:
            self.counters["files that do not load"] += 1
            self._report_unloaded(f"script not loaded: {error}")
            return None
        made = self._by_path[path] = _File(path, environment, self._stamp(path, environment))
        return made

    # -- calls ----------------------------------------------------

    def call(
        self, owner: Body | Home, event: str, *values: Body | Handle | str | float | None
    ) -> bool:
        """Call a function of the script of a spawn or a zone; return whether it is there and ran.

        An argument that is None is left out, and those behind it move up. The call waits for a
        file that is being compiled.
        """
        answer = self.ask(owner, event, *values)
        awaited = self._awaited.get(owner.script)
        if awaited is not None and not owner.is_gone and not answer.is_found:
            if len(awaited) < MOST_AWAITED:
                awaited.append(partial(self.call, owner, event, *values))
            else:
                self.counters["calls of files that are being compiled"] += 1
        return answer.is_found and not answer.has_failed

    def ask(
        self, owner: Body | Home, event: str, *values: Body | Handle | str | float | None
    ) -> CallAnswer:
        """Call a function as `call` does; return whether it is there, and its result."""
        if not owner.script or owner.is_gone:
            return NO_ANSWER
        return self.run(owner.script, event, owner, *values)

    def run(
        self, script: str, event: str, *values: Body | Home | Handle | str | float | None
    ) -> CallAnswer:
        """Call a function of a file by the name of a row."""
        file = self._file(script)
        if file is None or (file.failures >= MOST_FAILURES and not self._has_changed(file)):
            return NO_ANSWER
        running = _Running(file, file.environment, script, None, self._runtime)
        return self._run(running, event, values)

    def begin_apart(self, script: str) -> Environment | None:
        """Return new globals of a file, for one cast of a spell; None if it cannot run now."""
        file = self._file(script)
        if file is None or (file.failures >= MOST_FAILURES and not self._has_changed(file)):
            return None
        try:
            made = self._runtime.load(file.path)
        except NotCompiled:
            self.counters["casts of files that are being compiled"] += 1
            return None
        except ScriptError as error:
            self._failed(file, "", "load", error)
            return None
        self._apart[script] += 1
        self._runtimes[id(made)] = self._runtime
        return made

    def end_apart(self, script: str, environment: Environment) -> None:
        """Let go of the globals of a cast."""
        environment.end()
        del self._runtimes[id(environment)]
        self._apart[script] -= 1
        if not self._apart[script]:
            del self._apart[script]

    def run_apart(
        self, script: str, environment: Environment, subject: Any, event: str, *values: Any
    ) -> CallAnswer:
        """Call a function in globals of their own; `subject` is what its functions act for."""
        file = self._file(script)
        if file is None or environment.lua is None:
            return NO_ANSWER
        runtime = self._runtimes[id(environment)]
        return self._run(_Running(file, environment, script, subject, runtime), event, values)

    def _run(self, running: _Running, event: str, values: Sequence[Any]) -> CallAnswer:
        file, environment, script, subject, runtime = running
        before = self.subject, self._running
        self.subject, self._running = subject, runtime
        began = None
        if not self._depth:
            self._pace.begin()
            self._sender = file.path, _zone_id(subject, values)
            if event not in APPEARANCES:
                began = self.spent()
        seed = self._step_seed()
        if seed is not None:
            runtime.reseed(seed)
        self._depth += 1
        try:
            given_values = (
                values if subject is not None else [value for value in values if value is not None]
            )
            results = runtime.call_all(environment, event, *map(_lua_value, given_values))
        except ScriptError as error:
            self._failed(file, _name(values), event, error)
            return CallAnswer(is_found=True, has_failed=True)
        except Exception as error:  # noqa: BLE001  # the fault of a function, not of its script
            self.counters["functions failed"] += 1
            self._faults.add_fault("a function for scripts", _name(values), error)
            return CallAnswer(is_found=True, has_failed=True)
        finally:
            self._depth -= 1
            self.subject, self._running = before
            if began is not None:
                self.used(script, self.spent() - began)
        if self.reports.old:
            self.reports.ran(file.path, event)
        if results is None:
            return NO_ANSWER
        self.counters[f"event {event}" if event in EVENTS else "functions called"] += 1
        file.failures = 0
        return CallAnswer(is_found=True, value=results[0] if results else None, values=results)

    def _hold(self, handle: Handle) -> None:
        """Let the running call keep a handle that a function returns to it."""
        self._running.hold(handle)

    def table(self, values: Iterable[Any] | None) -> Any:
        """Return a table of Lua's for the running call; values count from 1. None for None."""
        return None if values is None else self._running.table(values)

    def failed(self, line: str) -> None:
        """Show an error to those who asked for it."""

    def _failed(self, file: _File, name: str, event: str, error: ScriptError) -> None:
        self.counters["errors"] += 1
        fault, is_first = self.reports.count_error(error, event, name, file.path)
        if is_first:
            self._report(str(fault))
        self.failed(str(fault))
        if isinstance(error, ScriptLimitError):
            file.failures += 1
            if file.failures == MOST_FAILURES:
                self.reports.switched_off.append(file.path)
                self._report(
                    f"{file.path} needed too much {MOST_FAILURES} times in a row"
                    " and is switched off"
                )

    def _stub(self, name: str, value: Any) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            check_texts(values)
            self.stubs[name] += 1
            if self.stubs[name] == 1:
                self._report(f"a script calls {name}, which this server does not have")
            return value

        return call


def _lua_value(value: Body | Home | Handle | str | float) -> Any:
    if isinstance(value, (Body, Home)):
        return value.handle
    return given(value) if isinstance(value, str) else value


def _zone_id(subject: Any, values: Sequence[Any]) -> int:
    """Return the number of the zone in which a call runs; 0 for an unknown one."""
    for one in (subject, *values):
        place = one.home if isinstance(one, Body) else one
        zone = getattr(place, "zone", None)
        if zone is not None:
            return int(zone.zone_id)
    return 0


def _name(values: Sequence[Any]) -> str:
    """Return the name of what a call is for, for people: that of its first argument."""
    return str(values[0].name) if values and isinstance(values[0], (Body, Home)) else ""
