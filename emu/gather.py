"""Waiting for two things at once, as coroutines that Twisted drives: `both`.

Two questions to a database far away take half the time if the second one does not wait for the
first one's answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class _Begun(Generic[A]):
    """A coroutine that has run up to its first wait."""

    def __init__(self, work: Awaitable[A]) -> None:
        self._steps: Generator[Any, Any, A] = work.__await__()
        self._is_over = False
        self._pending: Any = None
        self._error: BaseException | None = None
        self._result: Any = None
        self._step(lambda: next(self._steps))

    def finish(self) -> Generator[Any, Any, None]:
        """Run it to its end; what it waits for is passed to whoever drives this generator."""
        if not self._is_over and getattr(self._pending, "called", False):
            # A `Deferred` that has fired meanwhile gives its result here. The driver would take
            # the result out of it.
            self._step(lambda: self._steps.send(None))
        while not self._is_over:
            try:
                answer = yield self._pending
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001  # it is the coroutine's, as the answer is
                self._step(lambda error=error: self._steps.throw(error))
            else:
                self._step(lambda answer=answer: self._steps.send(answer))

    def close(self) -> None:
        """Break it off, if it is not over."""
        self._steps.close()

    def result(self) -> A:
        """Return its result, or raise its error."""
        if self._error is not None:
            raise self._error
        result: A = self._result
        return result

    def _step(self, go: Any) -> None:
        try:
            self._pending = go()
        except StopIteration as end:
            self._is_over, self._result = True, end.value
        except BaseException as error:  # noqa: BLE001  # raised by `result`
            self._is_over, self._error = True, error


class both(Generic[A, B]):  # noqa: N801  # used as a function
    """Wait for two awaitables that do not depend on each other: ``await both(first(), second())``.

    Each runs up to its first wait before either is waited for. Both run to their end, then the
    results are returned, or the error of the first one, else of the second one, is raised.
    """

    def __init__(self, first: Awaitable[A], second: Awaitable[B]) -> None:
        self._first, self._second = first, second

    def __await__(self) -> Generator[Any, Any, tuple[A, B]]:
        """Run both, and return their results."""
        first, second = _Begun(self._first), _Begun(self._second)
        try:
            yield from first.finish()
            yield from second.finish()
        finally:
            first.close()
            second.close()
        return first.result(), second.result()
