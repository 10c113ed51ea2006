"""Calls of one kind, carried out together: many rows in one statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Batchable:
    """A call of a repository that can be carried out together with others of its kind."""

    repository: Any
    one: Callable[..., Any]
    """Carries out one call: `one(repository, *values)`."""
    many: Callable[[Any, Sequence[tuple[Any, ...]]], Sequence[Any]]
    """Carries out several, all of them or none, and returns the error or the result of each."""
    values: tuple[Any, ...]

    def __call__(self) -> Any:
        """Carry out this call alone."""
        return self.one(self.repository, *self.values)

    @property
    def kind(self) -> object:
        """What the calls that can be carried out together have in common."""
        return self.many, self.repository


def kind_of(call: object) -> object:
    """Return the kind of a call, None for one that is always carried out alone."""
    return call.kind if isinstance(call, Batchable) else None


def by_kind(items: Sequence[T], call: Callable[[T], object]) -> list[T]:
    """Return calls with those of a kind beside each other; `call` returns the call of an item.

    Kinds must not depend on each other. The calls of one kind keep their order.
    """
    order: dict[object, int] = {}
    return sorted(items, key=lambda item: order.setdefault(kind_of(call(item)), len(order)))


def runs(items: Sequence[T], call: Callable[[T], object]) -> list[list[T]]:
    """Return the calls in order, in lists of those that can be carried out together."""
    found: list[list[T]] = []
    for kind, group in groupby(items, lambda item: kind_of(call(item))):
        run = [*group]
        found += [run] if kind is not None else [[item] for item in run]
    return found


def together(calls: Sequence[Any]) -> Sequence[Any]:
    """Carry out calls of one kind; return the error or the result of each."""
    first: Batchable = calls[0]
    return first.many(first.repository, [call.values for call in calls])
