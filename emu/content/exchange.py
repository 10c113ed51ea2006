"""A content file takes the place of another one, which is kept once beside it.

The file in use never loses its name: a new one replaces it in one step of the file system. Before,
the file in use gets a second name, ``.previous.next``; afterwards that becomes ``.previous``. A
program that is killed in between leaves the second name, and the next exchange settles it: if both
names stand for one file, nothing was exchanged; otherwise only the last step is missing.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from pathlib import Path
from typing import Final

from emu.errors import FileFormatError
from emu.system import flush

PREVIOUS: Final = ".previous"
_NEXT: Final = ".previous.next"
_ASIDE: Final = ".aside"
"""What programs up to 0.1 called the file in use while they exchanged two."""


def previous_path(target: Path) -> Path:
    """Return the name of the file before a content file."""
    return target.with_name(target.name + PREVIOUS)


def exchange(fresh: Path, target: Path) -> None:
    """Put a complete new file in place of a content file, which is kept. Raises `OSError`."""
    settle(target)
    # Content before name: after a power cut, a file of this name is complete.
    flush(fresh)
    if target.exists():
        _keep(target)
    fresh.replace(target)
    _finish(target)


def step_back(target: Path) -> None:
    """Exchange a content file and the one before it. Raises `FileFormatError`."""
    previous = previous_path(target)
    try:
        settle(target)
        if not previous.exists():
            raise FileFormatError(f"{previous}: there is no earlier content file")
        if target.exists():
            _keep(target)
        previous.replace(target)
        _finish(target)
    except OSError as error:
        raise FileFormatError(f"{target}: cannot be exchanged ({error.strerror})") from None


def settle(target: Path) -> None:
    """Finish, or take back, an exchange that a killed program has begun. Raises `OSError`."""
    kept, aside = target.with_name(target.name + _NEXT), target.with_name(target.name + _ASIDE)
    if kept.exists():
        if target.exists() and _is_same(kept, target):
            kept.unlink()
        else:
            _finish(target)
    if aside.exists():
        if not target.exists():
            aside.replace(target)
        elif not previous_path(target).exists():
            aside.replace(previous_path(target))


def _keep(target: Path) -> None:
    """Give the file in use a second name."""
    kept = target.with_name(target.name + _NEXT)
    try:
        os.link(target, kept)
    except OSError:  # a file system without hard links
        shutil.copyfile(target, kept)


def _finish(target: Path) -> None:
    """Let the second name of the file that was in use become the name of the file before."""
    kept = target.with_name(target.name + _NEXT)
    if kept.exists():
        kept.replace(previous_path(target))
    flush(target.parent)


def _is_same(one: Path, other: Path) -> bool:
    return one.samefile(other) or filecmp.cmp(one, other, shallow=False)
