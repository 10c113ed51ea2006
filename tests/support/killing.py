"""Work that is killed with SIGKILL before a chosen change of names in the file system."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

CHANGES = ("rename", "replace", "link", "unlink", "remove")
MOST = 100


def is_killed(work: Callable[[], object], step: int) -> bool:
    """Do a piece of work in a process that dies right before its change number `step`.

    Return False if the work has fewer changes, and so was done.
    """
    child = os.fork()
    if not child:
        _die_before(step)
        failed = 1
        try:
            work()
            failed = 0
        finally:
            os._exit(failed)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the work failed"
    return False


def _die_before(step: int) -> None:
    left = step

    def dying(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return change(*values, **named)

        return call

    for name in CHANGES:
        setattr(os, name, dying(getattr(os, name)))
