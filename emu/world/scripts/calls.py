"""Calls into scripts: what runs for whom, and what becomes of errors.

An error ends the call that has it, and nothing else: many scripts of the community have a function
that always fails, and spawns keep them. A file whose calls need too much three times in a row is
switched off until `reload scripts`. Source: docs/guides/lua.md#running.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
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
from emu.world.scripts.script_files import MOST_FAILURES, ScriptFile, ScriptFiles
from emu.world.scripts.stubs import stub_names

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


class _Running(NamedTuple):
    """The globals in which a function runs, and what it acts for."""

    file: ScriptFile
    environment: Environment
    script: str
    """The name of the row."""
    subject: Any
    runtime: Runtime
    """The one that has made the globals; after `reload` a living cast still has those of before."""


class Calls:
    """The calls of the functions of scripts; `files` has their files."""

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
        self.counters: Counter[str] = Counter()
        """Events and how they ended."""
        self.stubs: Counter[str] = Counter()
        """Calls of functions that this server does not have."""
        self._faults = faults
        self.reports = reports
        self._report = report
        ours = merged(functions)
        self._functions: dict[str, Callable[..., Any]] = {
            name: self._stub(name, value)
            for name, value in stub_names().items()
            if name not in ours
        }
        self._functions |= {name: bind(one, self, self._hold) for name, one in ours.items()}
        self._folder, self._compiling = folder, compiling
        self.files = ScriptFiles(
            folder, self._new_runtime, counters=self.counters, reports=reports, report=report,
            compiling=compiling, renewed=self.renewed, have_awaited=self.have_awaited,
        )  # fmt: skip
        self._apart: Counter[str] = Counter()
        """The globals of living casts, by the names of their files' rows."""
        self._runtimes: dict[int, Runtime] = {}
        """The runtimes of living casts, by the identities of their globals."""
        self._running = self.files.runtime
        """The runtime of the call that runs now."""
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

    # -- calls ----------------------------------------------------

    # -- files ------------------------------------------------------------------------------------

    def _new_runtime(self) -> Runtime:
        return Runtime(
            self._folder, self._functions, seed=self.chances.randint(0, 2**31 - 1),
            compiler=self._compiling.compiler if self._compiling is not None else None,
            spent=self.spent,
        )  # fmt: skip

    def reload(self) -> str:
        """Read all files anew when they are next needed; return one line that sums up.

        Timers, talks and nearness stay, and `spawn` is not called again.
        """
        line = self.files.reload()
        self._running = self.files.runtime
        return line

    def keep(self, names: Collection[str]) -> None:
        """Forget the files that neither a row of these names nor a living cast needs."""
        self.files.keep({*names, *self._apart})

    def renewed(self, path: str) -> None:
        """Act on a file that has changed and was read again."""

    def have_awaited(self) -> None:
        """Carry out the calls that have waited for a file, now or soon."""
        self.files.carry_out_some(lambda: True)

    # -- calls ------------------------------------------------------------------------------------

    def call(
        self, owner: Body | Home, event: str, *values: Body | Handle | str | float | None
    ) -> bool:
        """Call a function of the script of a spawn or a zone; return whether it is there and ran.

        An argument that is None is left out, and those behind it move up. The call waits for a
        file that is being compiled.
        """
        answer = self.ask(owner, event, *values)
        if not answer.is_found and not owner.is_gone:
            self.files.when_compiled(owner.script, partial(self.call, owner, event, *values))
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
        file = self.files.runnable(script)
        if file is None:
            return NO_ANSWER
        running = _Running(file, file.environment, script, None, self.files.runtime)
        return self._run(running, event, values)

    def begin_apart(self, script: str) -> Environment | None:
        """Return new globals of a file, for one cast of a spell; None if it cannot run now."""
        file = self.files.runnable(script)
        if file is None:
            return None
        try:
            made = self.files.runtime.load(file.path)
        except NotCompiled:
            self.counters["casts of files that are being compiled"] += 1
            return None
        except ScriptError as error:
            self._failed(file, "", "load", error)
            return None
        self._apart[script] += 1
        self._runtimes[id(made)] = self.files.runtime
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
        file = self.files.get(script)
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

    def _failed(self, file: ScriptFile, name: str, event: str, error: ScriptError) -> None:
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
