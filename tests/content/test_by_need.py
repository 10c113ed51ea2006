"""Kinds that are read when somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence

from emu.content.by_need import KindsByNeed
from emu.content.file import ContentFile


class Names(KindsByNeed[str]):
    """Kinds with even numbers, and which of them were read."""

    def __init__(self) -> None:
        super().__init__(None, most_remembered=10, largest=100)
        self.read: list[int] = []

    def opened(self) -> ContentFile | None:
        return self._opened()

    def _found(self, numbers: Sequence[int]) -> dict[int, str]:
        self.read += numbers
        return {one: f"kind {one}" for one in numbers if one % 2 == 0}


def test_each_number_is_read_once_also_one_that_nothing_describes() -> None:
    names = Names()
    for _ in range(2):
        assert names.get(4) == "kind 4"
        assert names.get(5) is None
        assert names.load((4, 5, 6)) == {4: "kind 4", 6: "kind 6"}
    assert names.read == [4, 5, 6]


def test_numbers_that_no_row_can_have_are_not_looked_for() -> None:
    names = Names()
    assert names.load((0, -2, 102, 2)) == {2: "kind 2"}
    assert names.read == [2]


def test_the_oldest_are_forgotten_and_read_again() -> None:
    names = Names()
    for number in range(1, 12):
        names.get(number)
    assert names.get(11) is None
    assert names.get(2) == "kind 2"
    assert names.read.count(2) == 2
    assert names.read.count(10) == 1


def test_without_a_content_file_none_is_opened() -> None:
    assert Names().opened() is None
