"""A process that has imported the project, and forks for each program that a test starts.

``python -m tests.support.running.forking SOCKET`` listens on a UNIX socket until its standard input
ends, and then removes its folder. A request is what `forked_command.send_request` sends. The
answers are two lines: the process number of the program, and its exit status as `os.waitpid` has
it. If the connection ends before, the program gets SIGTERM.

A new Python process imports Twisted and `emu` for a second of CPU time. A fork has them at once.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from twisted.application.service import IServiceMaker
from twisted.plugin import getPlugins

from tests.support.remembered import read_shipped_files, remember_documents
from tests.support.running.forked_command import FILES, LONGEST_REQUEST, TWISTD


@dataclass(slots=True)
class Request:
    """A program to start."""

    folder: str
    umask: int
    arguments: list[str]
    """The first one is a name of `PROGRAMS`."""
    environment: dict[str, str]
    files: array.array[int]
    """Descriptors of standard input, output and error."""


def _emu() -> object:
    """Be `emu`; its servers are the program that an environment variable may name."""
    from emu.cli import running  # noqa: PLC0415  # imported by `import_all`, before any fork
    from emu.cli.main import main  # noqa: PLC0415

    server = os.environ.get(TWISTD)
    if server:
        vars(running)["twistd"] = lambda: [server]
    main()
    return 0


def _twistd() -> object:
    from twisted.scripts.twistd import run  # noqa: PLC0415

    return run()  # type: ignore[no-untyped-call]


def _twist() -> object:
    from twisted.application.twist._twist import Twist  # noqa: PLC0415

    return Twist.main(sys.argv)


def _python() -> object:
    """Run a script as ``python FILE`` does."""
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).absolute().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def _forking() -> NoReturn:
    """Fork for the programs of one process of tests, until SIGTERM comes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    Forking(sys.argv[1]).serve()


PROGRAMS: dict[str, Callable[[], Any]] = {
    "emu": _emu,
    "forking": _forking,
    "python": _python,
    "twist": _twist,
    "twistd": _twistd,
}
"""What the installed script of a name calls, or this module again; the result is for `sys.exit`."""


IMPORTED = (
    "emu.tap", "emu.net.server", "emu.cli.main", "twisted.application.twist._twist",
    "twisted.scripts.twistd",
    # What these import when they first need it.
    "encodings.idna", "rich._emoji_codes", "sqlite_utils", "twisted.python.sendmsg", "zoneinfo",
)  # fmt: skip


def import_all() -> None:
    """Import what the programs use, except the reactor, whose files the forks would share."""
    # `sqlite_utils` would import NumPy, which starts threads.
    modules: dict[str, Any] = sys.modules
    modules["numpy"] = None
    for module in IMPORTED:
        importlib.import_module(module)
    del modules["numpy"]
    list(getPlugins(IServiceMaker))
    from emu.cli.main import NOUNS  # noqa: PLC0415

    for module, _ in NOUNS.values():
        importlib.import_module(f"emu.cli.{module}")
    remember_documents()
    read_shipped_files()
    assert "twisted.internet.reactor" not in sys.modules
    # A collection would write to all objects, and so copy the memory that the forks share.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # as in the tests themselves


def run(request: Request) -> NoReturn:
    """Be the program of a request; runs in a process of its own."""
    status = 1
    try:
        _be_a_program(request)
        status = _result(PROGRAMS[sys.argv[0]])
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  # nothing of this process may go on in a fork of it
        traceback.print_exc()
    finally:
        # The end of the interpreter would free all modules, and so copy the shared memory.
        os._exit(status)


def _be_a_program(request: Request) -> None:
    """Have what a new process has: its files, folder, environment and signals."""
    for wanted, file in zip(FILES, request.files, strict=True):
        os.dup2(file, wanted)
    os.closerange(len(FILES), os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.umask(request.umask)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = request.arguments
    sys.stdin, sys.stdout = _text(0, "r"), _text(1, "w")
    sys.stderr = _text(2, "w", errors="backslashreplace")
    # Twisted's `twistd` prints there as well.
    vars(sys).update(__stdin__=sys.stdin, __stdout__=sys.stdout, __stderr__=sys.stderr)


def _text(file: int, mode: str, errors: str = "strict") -> Any:
    """Open one of the standard files as the interpreter does at its start."""
    lines = 1 if file == 2 or os.isatty(file) else -1
    return os.fdopen(file, mode, lines, errors=errors, closefd=False)


def _result(program: Callable[[], Any]) -> int:
    """Return the exit status of a program, as the interpreter finds it."""
    try:
        code = program()
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  # the interpreter also prints all
        traceback.print_exc()
        return 1
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        return 1
    return int(code or 0) & 0xFF


class Forking:
    """The socket, and the programs that run."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._waiting = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(place)
        self._listener.listen(16)
        self._running: dict[int, tuple[int, signal.Signals]] = {}
        """By the descriptor of a program's process: its number, and the signal that ends it."""
        self._waiting.register(self._listener, selectors.EVENT_READ, self._accept)

    def end_with_input(self) -> None:
        """Raise `SystemExit` when standard input ends."""
        self._waiting.register(0, selectors.EVENT_READ, sys.exit)

    def serve(self) -> NoReturn:
        """Serve requests until `SystemExit` is raised; then end what still runs."""
        try:
            while True:
                for key, _ in self._waiting.select():
                    key.data()
        finally:
            for number, ending in self._running.values():
                os.kill(number, ending)
            shutil.rmtree(Path(self._place).parent, ignore_errors=True)

    def _accept(self) -> None:
        asker, _ = self._listener.accept()
        request = _receive(asker)
        number = os.fork()
        if not number:
            run(request)
        for file in request.files:
            os.close(file)
        process = os.pidfd_open(number)
        # Another process of this module ends its own programs first.
        ends_others = request.arguments[0] == "forking"
        self._running[process] = number, signal.SIGTERM if ends_others else signal.SIGKILL
        asker.sendall(b"%d\n" % number)
        self._waiting.register(process, selectors.EVENT_READ, lambda: self._ended(process, asker))
        self._waiting.register(asker, selectors.EVENT_READ, lambda: self._left(process, asker))

    def _ended(self, process: int, asker: socket.socket) -> None:
        """Report the end of a program."""
        self._waiting.unregister(process)
        os.close(process)
        _, status = os.waitpid(self._running.pop(process)[0], 0)
        with contextlib.suppress(OSError):  # nobody waits for it
            asker.sendall(b"%d\n" % status)
        with contextlib.suppress(KeyError):
            self._waiting.unregister(asker)
        asker.close()

    def _left(self, process: int, asker: socket.socket) -> None:
        """Ask a program to end whose caller has ended."""
        self._waiting.unregister(asker)
        if process in self._running:
            os.kill(self._running[process][0], signal.SIGTERM)


def _receive(asker: socket.socket) -> Request:
    head, files, _, _ = socket.recv_fds(asker, 4, len(FILES))
    size = int.from_bytes(head, "big")
    assert size <= LONGEST_REQUEST
    text = b""
    while len(text) < size:
        text += asker.recv(size - len(text))
    folder, umask, count, *rest = map(os.fsdecode, text.split(b"\0")[:-1])
    arguments, variables = rest[: int(count)], rest[int(count) :]
    environment = dict(variable.split("=", 1) for variable in variables)
    return Request(folder, int(umask), arguments, environment, array.array("i", files))


def main(place: str) -> NoReturn:
    """Import everything, and fork for what is asked at a socket, until standard input ends."""
    import_all()
    forking = Forking(place)
    forking.end_with_input()
    forking.serve()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(sys.argv[1])
