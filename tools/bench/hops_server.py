"""The whole server for measuring, which records every call of a Python function of ours.

Run as `tools.bench.login_server` is. At SIGUSR2 it prints one line of JSON, the turns since the
last SIGUSR2 (see `Turn`), and starts again with none. Compiled functions cannot be recorded.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypedDict

import emu
from tools.bench import login_server

OURS = str(Path(emu.__file__).parent) + "/"
RECEIVING = {"recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg"}
SENDING = {"send", "sendall", "sendmsg", "sendto"}


class Turn(TypedDict):
    """All that our code does before it returns to the reactor, or ends in another thread."""

    calls: list[tuple[str, str]]
    """File below ``emu/`` and function, in the order of the calls.

    A coroutine or generator that resumes counts as a call.
    """
    received: int
    """How many times it has read something from a socket."""
    sent: int
    """How many times it has written something to a socket."""


class Recorder:
    """Records the turns of all threads."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._threads = threading.local()
        self._names: dict[CodeType, tuple[str, str] | None] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Take one event of `sys.setprofile`."""
        turn = getattr(self._threads, "turn", None)
        if event == "c_return":
            if turn is not None:
                turn["received"] += argument.__name__ in RECEIVING
                turn["sent"] += argument.__name__ in SENDING
            return
        if event not in {"call", "return"} or (name := self._name(frame.f_code)) is None:
            return
        if event == "return":
            self._leave()
        else:
            self._enter(turn, name)

    def _enter(self, turn: Turn | None, name: tuple[str, str]) -> None:
        if turn is None:
            turn = Turn(calls=[], received=0, sent=0)
            self._threads.turn, self._threads.depth = turn, 0
            self._turns.append(turn)
        self._threads.depth += 1
        turn["calls"].append(name)

    def _leave(self) -> None:
        # A function that was already running when recording started returns without a call.
        if getattr(self._threads, "turn", None) is None:
            return
        self._threads.depth -= 1
        if not self._threads.depth:
            self._threads.turn = None

    def _name(self, code: CodeType) -> tuple[str, str] | None:
        if code not in self._names:
            ours = code.co_filename.startswith(OURS)
            name = (code.co_filename[len(OURS) :], code.co_qualname) if ours else None
            self._names[code] = name
        return self._names[code]

    def print(self, *_: object) -> None:
        """Print the recorded turns and forget them."""
        turns, self._turns = self._turns, []
        print(json.dumps(turns), flush=True)


if __name__ == "__main__":
    recorder = Recorder()
    signal.signal(signal.SIGUSR2, recorder.print)
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    login_server.main()
