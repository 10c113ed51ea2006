"""Kinds of one world by number, read from the content file when somebody first asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, Generic, TypeVar

from emu.content.file import ContentFile

LARGEST_NUMBER: Final = 0xFFFFFFFF
Kind = TypeVar("Kind")


class KindsByNeed(Generic[Kind]):
    """Reads and remembers kinds; any thread may call it. Raises `FileFormatError` as it reads."""

    def __init__(
        self, content: Path | None, most_remembered: int, largest: int = LARGEST_NUMBER
    ) -> None:
        """`most_remembered` kinds are kept although nobody uses them; `largest` is a number."""
        self._lock = Lock()
        self._most_remembered = most_remembered
        self._largest = largest
        self._start_over(content)

    def _start_over(self, content: Path | None) -> None:
        """Read from another file, or from the changed one."""
        self._path = content
        self._file: ContentFile | None = None
        self._known: dict[int, Kind | None] = {}

    def get(self, number: int) -> Kind | None:
        """Return the kind of a number; None if nothing describes it."""
        try:
            return self._known[number]
        except KeyError:
            self.load((number,))
            return self._known.get(number)

    def load(self, numbers: Iterable[int]) -> dict[int, Kind]:
        """Return the kinds of some numbers; those that nothing describes are left out."""
        wanted = set(numbers)
        with self._lock:
            missing = [one for one in wanted if one not in self._known]
            if missing:
                self._read(missing)
            found = {one: self._known.get(one) for one in wanted}
        return {number: kind for number, kind in found.items() if kind is not None}

    def _read(self, numbers: Sequence[int]) -> None:
        found = self._found([one for one in numbers if 0 < one <= self._largest])
        if len(self._known) + len(numbers) > self._most_remembered:
            # The oldest ones go; what uses a kind keeps it.
            for number in list(self._known)[: self._most_remembered // 2]:
                del self._known[number]
        for number in numbers:
            self._known[number] = found.get(number)

    def _opened(self) -> ContentFile | None:
        if self._path is not None and self._file is None:
            self._file = ContentFile(self._path, is_shared=True)
        return self._file

    def _found(self, numbers: Sequence[int]) -> Mapping[int, Kind]:
        """Read the kinds of some numbers, under the lock."""
        raise NotImplementedError
