"""One Lua runtime: an environment for each script file, and a guard around each call.

All scripts of a process share one `lupa.lua54.LuaRuntime`, on the reactor's thread. A script file
has an environment of its own: its globals are its own, and the server's functions and the allowed
part of Lua's library stand behind them (``data/lua/sandbox.lua``).

The guard: a hook counts the instructions of a call that comes from outside; an API function that
causes another event runs inside of the same limit. The memory that one call may add is limited too.
What Lua does inside of one instruction or one C function is out of the hook's reach, so no text can
become long (`emu.scripts.forms`), and the library has no function that takes long on a short one.
Source: the measurements in docs/guides/hardening.md#scripts.

This is the only module that imports lupa, and it does so when a runtime is made.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from emu.errors import ConfigError, ScriptError, ScriptLimitError
from emu.files import data_file
from emu.scripts.compiling import COMPILE, MOST_SECONDS, TOO_LARGE, Compiler, NotCompiled
from emu.scripts.folder import ENCODING, ScriptFolder
from emu.scripts.forms import LONGEST_TEXT, prepared
from emu.scripts.own_time import OwnTime, own_time
from emu.scripts.places import SANDBOX, CodePlaces, compile_error
from emu.scripts.signatures import Handle, shortened

STEP: Final = 32
"""Instructions between two checks of the guard: few, because each can copy a large text."""
BY_THE_ALLOCATOR: Final = 4
"""At this multiple of a call's growth memory is refused at once, and all garbage is collected."""
COLLECTED: Final = 10
"""Logarithm of the bytes for which one step of Lua's collection pays: it takes up to 0.5 ms."""
AT_ONCE: Final = 16 * 1024
"""Bytes of a file that may be compiled where it is needed: that takes 12 ms at most."""
DEEPEST: Final = 16
"""Events inside of events: a function that kills a spawn calls the spawn's own `death`."""
FREE_NUMBERS: Final = 32_768
"""Numbers for objects that are made free at once: more than one call can use."""
MIB: Final = 1024 * 1024
TOO_MUCH_MEMORY: Final = "the call needs too much memory"
LIMITS: Final = (
    "the call took too long", "the functions call each other too deeply", TOO_MUCH_MEMORY,
    "the text would be too long",
)  # fmt: skip
"""How the errors of limits in ``data/lua/sandbox.lua`` begin."""

NO_LUPA: Final = (
    "scripts need the package lupa: pip install 'eq2emu[lua]', or leave world.scripts empty"
)


@dataclass(frozen=True, slots=True)
class ScriptLimits:
    """What one call from outside may use."""

    instructions: int = 200_000
    """About 1 ms of a loop. The community's longest list of way points takes 15,000."""
    seconds: float = 0.015
    """CPU time of a call, checked every `STEP` instructions; of the time between two checks at most
    a fifth of this counts. Each file and event inside of the call adds a fifteenth, up to four
    times this in all."""
    growth: int = 4 * MIB
    """Bytes that a call may add."""
    loading_growth: int = 16 * MIB
    """Bytes that loading a file may add."""
    memory: int = 512 * MIB
    """Bytes of all scripts together."""
    depth: int = 200
    """Calls inside of each other, checked every `STEP` instructions. The community's scripts have
    under 20."""
    text: int = LONGEST_TEXT
    """Bytes of any text."""


@dataclass(slots=True)
class Environment:
    """The globals of one script file."""

    path: str
    """Relative to the scripts' folder, as error messages have it."""
    lua: Any
    """The table of its globals, as lupa has it."""
    runtime: weakref.ref[Runtime]
    """Weak: Lua has a function of this object, and the runtime has Lua."""
    required: frozenset[str] = frozenset()
    """Modules that `require` has run already."""

    def run_module(self, name: object, is_required: bool) -> None:  # called by Lua
        """Run a file in these globals; a required one once. Raises `ScriptError`."""
        runtime = self.runtime()
        if runtime is None:
            raise ScriptError(self.path, 0, "the scripts have ended")
        runtime.run_module(self, name, is_required=is_required)

    def end(self) -> None:
        """Let go of the globals: no function of the file can be called any more.

        The table has functions that hold this object, and neither Python's nor Lua's collector
        sees such a circle.
        """
        self.lua = None


class Runtime:
    """A Lua runtime with the server's functions. Everything here runs on one thread."""

    def __init__(
        self,
        folder: ScriptFolder,
        functions: Mapping[str, Callable[..., Any]],
        *,
        limits: ScriptLimits | None = None,
        printed: Callable[[str], object] = lambda _text: None,
        seed: int = 0,
        compiler: Compiler | None = None,
        spent: OwnTime | None = None,
    ) -> None:
        """Make a runtime; `functions` are the global functions of all scripts.

        `printed` gets what scripts print. `seed` begins the random numbers of the scripts. Files of
        more than `AT_ONCE` bytes come from `compiler`, if there is one. `spent` measures the time
        of a call: without it, this thread's processor time.
        Raises `ConfigError` if lupa is not installed.
        """
        self.limits = limits or ScriptLimits()
        self.folder = folder
        self.calls = 0
        self._spent = spent or own_time()
        self._compiler = compiler
        self._depth = 0
        self._beats = self.limits.instructions // STEP
        self._memory = self.limits.memory
        self._memory_error = _memory_error()
        self._lua_error = _lua_error()
        lua = new_runtime(self.limits.memory)
        self._lua = lua
        names = lua.globals()
        self.reseed: Callable[[int], object] = names.math.randomseed
        """Begins the random numbers of the scripts anew."""
        self.reseed(seed)
        # The C function itself: a Lua function that ends the hook would be stopped by the hook.
        self._unhook = names.debug.sethook
        self._collect = names.collectgarbage
        # Lua's own steps interrupt calls of scripts: small ones, and as many as they were.
        self._collect("incremental", 0, 0, COLLECTED)
        self._cycles = 0
        """Cycles of the collection that are still to be finished."""
        self._places = CodePlaces()
        self._places.getinfo = names.debug.getinfo
        # The runtime has the places, and they have a function of it: neither collector sees that.
        weakref.finalize(self, _let_go, self._places)
        sandbox = data_file("lua", SANDBOX).read_bytes()
        limit_table = lua.table(
            step=STEP, seconds=self.limits.seconds, text=self.limits.text, depth=self.limits.depth,
            own_time=self._spent, clock=self._spent.steady, free_numbers=FREE_NUMBERS,
        )  # fmt: skip
        api = lua.table_from(dict(functions))
        compile_text, _ = names.load(
            data_file("lua", COMPILE).read_bytes(), f"@{COMPILE}", "t", names
        )()
        start = names.load(sandbox, f"@{SANDBOX}", "t", names)
        (
            self._environment, self._compile, self._run, self._has, self._call, self._free,
            self._held,
        ) = start(api, limit_table, printed, self._places.noted, compile_text)  # fmt: skip
        self._own = weakref.ref(self)
        self._compiled: dict[str, Any] = {}
        """Functions of Lua's that run a file in an environment, by path."""

    # -- files ------------------------------------------------------------------------------------

    def load(self, path: str) -> Environment:
        """Run a file in a new environment and return it.

        `path` is what `ScriptFolder.find` has returned. Raises `ScriptError`.
        """
        env = Environment(path, None, self._own)
        env.lua = self._environment(env.run_module)
        self._run_file(path, env)
        return env

    def check(self, path: str) -> None:
        """Compile a file without running it. Raises `ScriptError`."""
        self._compiled_form(path)

    def forget(self, path: str) -> None:
        """Read a file anew the next time it is loaded."""
        self._compiled.pop(path, None)

    def keep(self, paths: Collection[str]) -> None:
        """Forget the compiled forms of all other files."""
        self._compiled = {path: one for path, one in self._compiled.items() if path in paths}

    def begin_collection(self) -> None:
        """Begin to free what no script names any more; `collect_some` does it in steps."""
        # The cycle that is under way may have passed what was dropped only now.
        self._cycles = 2

    def collect_some(self, may_go_on: Callable[[], bool]) -> bool:
        """Take steps of a collection that was begun; return whether it is finished.

        It takes one step at least, and further ones while `may_go_on` says so.
        """
        while self._cycles:
            if self._collect("step", 0):
                self._cycles -= 1
            if not may_go_on():
                break
        return not self._cycles

    def _run_file(self, path: str, env: Environment) -> None:
        compiled = self._compiled_form(path)
        beats, ceiling = self._enter(path, self.limits.loading_growth)
        try:
            self._run(compiled, env.lua, beats, ceiling)
        except ScriptError as error:
            raise _with_path(error, path) from error
        except (self._memory_error, self._lua_error) as error:
            raise self._explained(path, error) from error
        finally:
            self._leave()

    def has_compiled(self, path: str) -> bool:
        """Return whether a file need not be compiled; also for another thread."""
        return path in self._compiled

    def _compiled_form(self, path: str) -> Any:
        compiled = self._compiled.get(path)
        if compiled is None:
            # A call that needs a file does not pay for compiling it.
            with self._spent.left_out():
                compiled = self._compiled[path] = self._new_form(path)
        return compiled

    def _new_form(self, path: str) -> Any:
        stamp, seconds = self.folder.stamp(path), None
        code: bytes | str | None = None
        if self._compiler is not None:
            code = self._compiler.take_compiled(path, stamp)
            if code is None and stamp is not None and stamp[1] > AT_ONCE:
                raise NotCompiled(path)
        if code is None:
            code, seconds = (
                prepared(self.folder.read_file(path).decode(ENCODING), path),
                MOST_SECONDS,
            )
        try:
            made = self._compile(code, path, seconds)
        except self._memory_error as error:
            raise ScriptError(path, 0, TOO_LARGE) from error
        if isinstance(made, tuple):
            raise compile_error(path, str(made[1]))
        return made

    def run_module(self, env: Environment, name: object, *, is_required: bool) -> None:
        """Run a file in globals, a required one only if it has not run there yet.

        Raises `ScriptError`.
        """
        path = self._module(env, name, ".lua" if is_required else "")
        if is_required:
            if path in env.required:
                return
            # Before it runs: modules that require each other would go on for ever.
            env.required |= {path}
        self._run_file(path, env)

    def _module(self, env: Environment, name: object, suffix: str) -> str:
        wanted = name if isinstance(name, str) else ""
        path = self.folder.find(wanted + suffix)
        if path is None:
            raise ScriptError(env.path, 0, f"there is no module {wanted[:200]!r}")
        return path

    # -- calls ------------------------------------------------------------------------------------

    def has(self, env: Environment, name: str) -> bool:
        """Return whether a script has a global function of this name, its own or the server's."""
        return bool(self._has(env.lua, name))

    def call(self, env: Environment, name: str, *values: Any) -> tuple[bool, Any]:
        """Call a script's global function; return whether there is one, and its first result.

        Raises `ScriptError` for an error of the script, and other errors as they are.
        """
        results = self.call_all(env, name, *values)
        if results is None:
            return False, None
        return True, results[0] if results else None

    def call_all(self, env: Environment, name: str, *values: Any) -> tuple[Any, ...] | None:
        """Call a script's global function as `call` does; return all results, None without it."""
        if not name.isascii():
            return None  # Lua has no such names
        self.calls += 1
        beats, ceiling = self._enter(env.path, self.limits.growth)
        try:
            result = self._call(env.lua, beats, ceiling, name, *map(self._passed, values))
        except ScriptError as error:
            raise _with_path(error, env.path) from error
        except (self._memory_error, self._lua_error) as error:
            raise self._explained(env.path, error) from error
        finally:
            self._leave()
        if isinstance(result, tuple):
            return result[1:]
        return () if result else None

    def table(self, values: Iterable[Any]) -> Any:
        """Return a table of Lua's with values, counted from 1."""
        return self._lua.table_from([self._passed(one) for one in values])

    # -- handles ----------------------------------------------------------------------------------

    def hold(self, handle: Handle) -> None:
        """Keep what Lua has of a handle until the handle ends.

        Else Lua makes another value of it when it is passed again. Between the collection of the
        first one and its finalizer, lupa mixes the two up: it forgets the second one with
        the first, and Lua has a value whose object is gone.
        """
        holders = handle.holders
        if holders is not None and self._own not in holders:
            # A handle for nobody outlives many runtimes: each reload of scripts makes a new one.
            running = [one for one in holders if one() is not None]
            handle.holders = (*running, self._own)
            self._held[handle] = True

    def let_go(self, handle: Handle) -> None:
        """Let Lua lose a handle that has ended."""
        self._held[handle] = None

    def _passed(self, value: Any) -> Any:
        """Return a value as Lua may have it."""
        if type(value) is not Handle:
            return shortened(value)
        holders = value.holders
        if holders is None:
            # One that has ended is not kept any more, so it must not be passed again.
            return (
                value if value.subject is not None else Handle(value.kind, None, is_lasting=False)
            )
        if self._own not in holders:
            self.hold(value)
        return value

    @property
    def memory(self) -> int:
        """Bytes that all scripts use now."""
        used: int = self._lua.get_memory_used()
        return used

    def _enter(self, path: str, growth: int) -> tuple[int | None, float]:
        """Begin a call; return its beats and the kilobytes that all scripts may then have.

        The beats are None inside of another call, whose limits hold.
        """
        if self._depth >= DEEPEST:
            raise ScriptLimitError(path, 0, f"events inside of events, {DEEPEST} deep")
        self._depth += 1
        if self._depth > 1:
            return None, 0.0
        used = self._lua.get_memory_used()
        # The guard ends a call that needs too much. Where the allocator refuses memory, Lua first
        # collects the garbage of all scripts at once: that is for a single large table only.
        self._lua.set_max_memory(min(used + BY_THE_ALLOCATOR * growth, self._memory))
        return self._beats, min(used + growth, self._memory) / 1024

    def _leave(self) -> None:
        """End a call; the outermost one removes the hook."""
        self._depth -= 1
        if not self._depth:
            self._unhook()
            self._lua.set_max_memory(self._memory)

    def _explained(self, path: str, error: Exception) -> ScriptError:
        if isinstance(error, self._memory_error):
            return ScriptLimitError(path, 0, TOO_MUCH_MEMORY)
        found = self._places.explained(path, str(error))
        if found.text.startswith(LIMITS):
            return ScriptLimitError(found.path, found.line, found.text)
        return found


def _with_path(error: ScriptError, path: str) -> ScriptError:
    """Return an error with the file that runs, if it does not say its file."""
    return error if error.path else ScriptError(path, error.line, error.text)


def _let_go(places: CodePlaces) -> None:
    places.getinfo = None


def new_runtime(memory: int, encoding: str | None = ENCODING) -> Any:
    """Return a Lua runtime with so many bytes of memory; without an encoding texts are bytes.

    Raises `ConfigError` if lupa is not installed.
    """
    try:
        from lupa.lua54 import LuaRuntime  # noqa: PLC0415  # only servers with scripts need it
    except ImportError as error:
        raise ConfigError([NO_LUPA]) from error
    return LuaRuntime(
        encoding=encoding,
        register_eval=False,
        register_builtins=False,
        unpack_returned_tuples=True,
        attribute_filter=_no_attributes,
        max_memory=memory,
    )


def _memory_error() -> type[Exception]:
    from lupa.lua54 import LuaMemoryError  # noqa: PLC0415  # as above

    kind: type[Exception] = LuaMemoryError
    return kind


def _lua_error() -> type[Exception]:
    from lupa.lua54 import LuaError  # noqa: PLC0415  # as above

    kind: type[Exception] = LuaError
    return kind


def _no_attributes(_value: object, name: object, _is_setting: object) -> NoReturn:
    """Refuse every attribute: scripts have handles, and nothing of Python."""
    raise AttributeError(str(name)[:100])
