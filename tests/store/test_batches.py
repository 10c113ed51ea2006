"""Calls of one kind are carried out together, in their order, and each has its own outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emu.store.batches import Batchable, by_kind, runs, together


class Rows:
    """A repository that notes its calls."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def one(self, number: int) -> None:
        self.calls.append(number)

    def many(self, rows: Sequence[tuple[int]]) -> Sequence[Exception | None]:
        self.calls.append([number for (number,) in rows])
        return [None for _ in rows]

    def call(self, number: int) -> Batchable:
        return Batchable(self, Rows.one, Rows.many, (number,))


def itself(item: object) -> object:
    return item


def test_calls_of_a_kind_come_together_and_keep_their_order() -> None:
    first, second = Rows(), Rows()
    alone = [lambda: 1, lambda: 2]
    a, b, c, d = first.call(1), second.call(2), first.call(3), second.call(4)
    mixed = [a, alone[0], b, c, alone[1], d]
    in_order = by_kind(mixed, itself)
    assert in_order == [a, c, *alone, b, d]
    assert runs(in_order, itself) == [[a, c], [alone[0]], [alone[1]], [b, d]]
    assert runs(mixed, itself) == [[one] for one in mixed], "only neighbors"


def test_calls_are_carried_out_with_all_their_values() -> None:
    rows = Rows()
    assert together([rows.call(1), rows.call(2)]) == [None, None]
    rows.call(3)()
    assert rows.calls == [[1, 2], 3]
