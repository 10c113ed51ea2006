"""Makes many objects apart from those that stay, so that their memory is the system's again.

CPython takes memory for small objects in arenas of 256 KiB or 1 MiB, and returns an arena when
nothing in it is used. Among the objects of a zone some are made that stay, and each keeps a whole
arena. The C library returns single pages (`emu.net.world.content_memory.give_back`), so the memory
of what is made `apart` is the C library's.

`PyMem_SetAllocator` may replace an allocator while Python runs if the new one wraps the old one.
This one does: CPython's own `free` and `realloc` stay. They pass on to the C library what is not in
an arena, as for each object of more than 512 bytes. Only the ordinary allocator is replaced, never
one of free-threaded Python, of another implementation, or one that debugs or measures.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

RAW, MEM, OBJECTS = range(3)
"""The domains of CPython's allocators: `PyMemAllocatorDomain` of its C API."""
ORDINARY: Final = b"pymalloc"


class Functions(ctypes.Structure):
    """CPython's `PyMemAllocatorEx`: an argument, and the functions of an allocator."""

    _fields_ = (
        ("ctx", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )


class Allocator:
    """Changes where CPython takes memory for new objects; a process has one."""

    def __init__(self, api: Any) -> None:
        """`api` is `ctypes.pythonapi`. Raises `AttributeError` where a function is missing."""
        # `PyDLL` keeps the interpreter's lock, so nothing is allocated during a change.
        self._get, self._set = api.PyMem_GetAllocator, api.PyMem_SetAllocator
        self._name: Callable[[], bytes | None] = api._PyMem_GetCurrentAllocatorName  # noqa: SLF001
        self._name.restype = ctypes.c_char_p
        self._lock = threading.Lock()
        self._users = 0
        self._before: tuple[Functions, Functions] | None = None
        """The allocators of both domains, while others are in their place."""

    def _of(self, domain: int) -> Functions:
        found = Functions()
        self._get(domain, ctypes.byref(found))
        return found

    @property
    def is_apart(self) -> bool:
        """Whether new objects come from the C library."""
        return self._before is not None

    def begin(self) -> None:
        """Take memory for new objects, of all threads, from the C library."""
        with self._lock:
            self._users += 1
            if self._users > 1 or self._name() != ORDINARY:
                return
            raw, before = self._of(RAW), (self._of(MEM), self._of(OBJECTS))
            for domain, own in zip((MEM, OBJECTS), before, strict=True):
                apart = Functions(own.ctx, raw.malloc, raw.calloc, own.realloc, own.free)
                self._set(domain, ctypes.byref(apart))
            self._before = before

    def end(self) -> None:
        """End what `begin` began, when all have ended it."""
        with self._lock:
            self._users -= 1
            if self._users or self._before is None:
                return
            for domain, own in zip((MEM, OBJECTS), self._before, strict=True):
                self._set(domain, ctypes.byref(own))
            self._before = None


@contextmanager
def apart() -> Iterator[None]:
    """Take memory for new objects from the C library, where this Python can."""
    allocator = process_allocator()
    if allocator is None:
        yield
        return
    allocator.begin()
    try:
        yield
    finally:
        allocator.end()


@cache
def process_allocator() -> Allocator | None:
    """Return the allocator of this process; None where it cannot be changed."""
    try:
        return Allocator(ctypes.pythonapi)
    except (AttributeError, OSError):
        return None
