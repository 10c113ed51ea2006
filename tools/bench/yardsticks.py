"""Yardsticks: a loop of plain Python, and processes that do next to nothing.

The loop is RC4 written out: indexing, adding, a list of small numbers, the usual work of an
interpreter. `tools.bench.echo_server` is the yardstick for the cost of the system's sockets and
Twisted's reactor.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

KEY = bytes(range(8))
SIZE = 200_000

RC4_BYTE = "RC4 byte"
"""A byte of RC4 in plain Python."""
RC4_KILOBYTE = "RC4 kB"
"""A thousand of them."""


@dataclass(frozen=True)
class Loop:
    """Seconds that the loop took for one byte."""

    cpu: float
    wall: float


def rc4_loop(size: int = SIZE) -> Loop:
    """Return the time per byte of making so many bytes of RC4's key stream."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + KEY[i % len(KEY)]) & 255
        state[i], state[j] = state[j], state[i]
    cpu, wall = time.process_time(), time.perf_counter()
    i = j = 0
    out = bytearray(size)
    for n in range(size):
        i = (i + 1) & 255
        one = state[i]
        j = (j + one) & 255
        other = state[j]
        state[i], state[j] = other, one
        out[n] = state[(one + other) & 255]
    return Loop((time.process_time() - cpu) / size, (time.perf_counter() - wall) / size)
