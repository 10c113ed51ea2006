"""Runs `emu` as an operator does: a process of its own, on pipes or on a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from pathlib import Path
from threading import Timer

from twisted.internet.threads import deferToThread

from tests.support.patience import patience
from tests.support.running.forked import forked_words

LONGEST = 60.0
LONGEST_IN_TERMINAL = 10.0


def environment(folder: Path) -> dict[str, str]:
    """Return variables that keep a developer's own settings out."""
    state = {"XDG_STATE_HOME": str(folder), "HOME": str(folder)}
    terminal = {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}  # nobody answers its questions here
    return {**os.environ, **terminal, **state}


async def emu(folder: Path, *words: object, stdin: str = "") -> tuple[str, str, int]:
    """Run a command; return what it printed, what it complained, and its exit status."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*forked_words("emu"), *map(str, words)], input=stdin, capture_output=True,
            text=True, check=False, timeout=patience(LONGEST), cwd=folder, env=environment(folder),
        )  # fmt: skip

    done = await deferToThread(run)
    return done.stdout, done.stderr, done.returncode


async def emu_on_open_pipe(folder: Path, *words: object, stdin: str) -> tuple[str, int]:
    """Run a command whose input stays open; return what it printed, and its exit status."""

    def run() -> tuple[str, int]:
        with subprocess.Popen(
            [*forked_words("emu"), *map(str, words)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
            env=environment(folder),
        ) as process:  # fmt: skip
            assert process.stdin is not None
            assert process.stdout is not None
            timer = Timer(patience(LONGEST_IN_TERMINAL), process.kill)
            timer.start()
            process.stdin.write(stdin)
            process.stdin.flush()
            shown = process.stdout.read()
            timer.cancel()
            return shown, process.wait()

    return await deferToThread(run)


async def emu_on_terminal(folder: Path, *words: object, keys: list[tuple[str, str]]) -> str:
    """Run a command on a terminal; each of `keys` is typed when its text has been shown."""
    return await deferToThread(_on_terminal, folder, words, keys)


def _on_terminal(folder: Path, words: tuple[object, ...], keys: list[tuple[str, str]]) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*forked_words("emu"), *map(str, words)], stdin=theirs, stdout=theirs,
        stderr=theirs, cwd=folder, env=environment(folder), start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown, at = "", 0
    try:
        for awaited, typed in keys:
            while awaited not in shown[at:]:
                more = _shown(ours)
                assert more, f"{awaited!r} was not shown, but:\n{shown}"
                shown += more
            at = shown.index(awaited, at) + len(awaited)
            os.write(ours, typed.encode())
        while more := _shown(ours):
            shown += more
        process.wait(1.0)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return shown


def _shown(terminal: int) -> str:
    """Return what else is shown, nothing when there will be nothing."""
    ready, _, _ = select.select([terminal], [], [], patience(LONGEST_IN_TERMINAL))
    try:
        return os.read(terminal, 4096).decode(errors="replace") if ready else ""
    except OSError:  # Linux's way to say that the process is gone
        return ""
