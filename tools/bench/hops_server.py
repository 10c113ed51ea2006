"""The whole server for measuring, with a record of every call of a Python function of `emu`.

Run as `tools.bench.login_server`. At SIGUSR2 it prints one line of JSON, the turns since the last
SIGUSR2 (see `Turn`), and clears the record. Compiled functions cannot be recorded.
"""

from __future__ import annotations

import _socket
import json
import signal
import socket
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypedDict

import emu
from emu.net.udp import dispatcher
from tools.bench import login_server

OURS = str(Path(emu.__file__).parent) + "/"
RECEIVING = {"recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg"}
SENDING = {"send", "sendall", "sendmsg", "sendto"}
NETWORK = RECEIVING | SENDING
SLOWER = 20
"""About how many times the work takes longer while it is recorded.

A session is charged after a fixed time of work. Without this factor it would be charged in nearly
every turn, and on a faster machine in fewer.
"""
INTERNET = {socket.AF_INET, socket.AF_INET6}


class Turn(TypedDict):
    """All that our code does before it returns to the reactor, or ends in another thread."""

    calls: list[tuple[str, str]]
    """File below ``emu/`` and function, in the order of the calls.

    A coroutine or generator that resumes counts as a call.
    """
    received: list[int]
    """Ports of this host at which it has read from the network, once for each call."""
    sent: list[int]
    """Ports of this host from which it has written to the network, once for each call."""


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
            if turn is not None and argument.__name__ in NETWORK:
                self._note(turn, argument)
            return
        if event not in {"call", "return"} or (name := self._name(frame.f_code)) is None:
            return
        if event == "return":
            self._leave()
        else:
            self._enter(turn, name)

    def _note(self, turn: Turn, call: Any) -> None:
        """Record a call that read or wrote; `call` is the method of a socket.

        Threads wake the reactor through a pair of local sockets, which is no traffic.
        """
        at = call.__self__
        if isinstance(at, socket.socket | _socket.socket) and at.family in INTERNET:
            ports = turn["received" if call.__name__ in RECEIVING else "sent"]
            ports.append(at.getsockname()[1])

    def note_sent(self, port: int) -> None:
        """Record that the present turn has written from a port, without a socket."""
        turn = getattr(self._threads, "turn", None)
        if turn is not None:
            turn["sent"].append(port)

    def taken(self) -> list[Turn]:
        """Return the recorded turns and forget them."""
        turns, self._turns = self._turns, []
        return turns

    def _enter(self, turn: Turn | None, name: tuple[str, str]) -> None:
        if turn is None:
            turn = Turn(calls=[], received=[], sent=[])
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
        print(json.dumps(self.taken()), flush=True)


if __name__ == "__main__":
    vars(dispatcher)["ACCOUNTED"] *= SLOWER
    recorder = Recorder()
    signal.signal(signal.SIGUSR2, recorder.print)
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    login_server.main()
