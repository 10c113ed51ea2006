"""The whole server for measuring, with every call of a Python function of ours counted.

Run as `tools.bench.login_server` is. At SIGUSR2 it prints one line of JSON, calls by file and
function since the last one, and begins anew. What is compiled calls nothing that could be counted.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FrameType

import emu
from tools.bench import login_server

OURS = str(Path(emu.__file__).parent)
_calls: Counter[CodeType] = Counter()


def count(frame: FrameType, event: str, _argument: object) -> None:
    """Count a call; a coroutine or generator that goes on counts as one as well."""
    if event == "call":
        _calls[frame.f_code] += 1


def tell(*_: object) -> None:
    """Print what was counted, and forget it."""
    counted, by_file = dict(_calls), defaultdict[str, dict[str, int]](dict)
    _calls.clear()
    for code, calls in counted.items():
        if code.co_filename.startswith(OURS):
            name = f"{code.co_qualname}:{code.co_firstlineno}"
            by_file[code.co_filename[len(OURS) + 1 :]][name] = calls
    print(json.dumps(by_file), flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR2, tell)
    threading.setprofile(count)
    sys.setprofile(count)
    login_server.main()
