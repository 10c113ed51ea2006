"""Objects whose memory is apart from that of what stays."""

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from emu.net.world.allocator import Allocator, apart, process_allocator

ORDINARY = pytest.mark.skipif(
    process_allocator() is None, reason="this Python has no allocator that can be changed"
)

PROGRAM = """
import sys
from emu.net.world.allocator import apart
before = sys.getallocatedblocks()
with apart():
    made = [[number, {number: str(number)}] for number in range(20_000)]
counted = sys.getallocatedblocks() - before
for one in made:
    one += range(9)  # grows outside
with apart():
    plain = made.copy()
    for one in plain:
        one.clear()
stayed = [str(number) for number in range(20_000)]
with apart():
    for number, one in enumerate(stayed):
        stayed[number] = one + "0"  # an object of an arena ends here
assert stayed[7] == "70"
del made, plain, one
print(counted)
"""


def blocks(**environment: str) -> int:
    """Return how many blocks in arenas 20,000 lists need, in a process of its own."""
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True,
        env={"PATH": "", **environment},
    )  # fmt: skip
    return int(said.stdout)


@ORDINARY
def test_objects_made_apart_are_in_no_arena() -> None:
    assert blocks() < 2000


@pytest.mark.parametrize("name", ["debug", "malloc", "malloc_debug", "pymalloc_debug"])
def test_another_allocator_is_left_alone(name: str) -> None:
    blocks(PYTHONMALLOC=name)


@pytest.mark.slow
@ORDINARY
def test_measuring_of_memory_goes_on() -> None:
    blocks(PYTHONTRACEMALLOC="1")


@ORDINARY
def test_it_lasts_until_the_last_thread_has_ended_it() -> None:
    allocator = process_allocator()
    assert allocator is not None
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with apart():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with apart():
        thread.start()
        assert inside.wait(10)
    assert allocator.is_apart
    leave.set()
    thread.join()
    assert not allocator.is_apart


def test_another_implementation_has_no_such_allocator() -> None:
    api: Any = SimpleNamespace()
    with pytest.raises(AttributeError):
        Allocator(api)
