"""Searching the files of the log backwards, also while they are rotated."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from emu.admin import log_files
from emu.admin.log_files import LogPlace, lines_backwards, search_log
from emu.admin.log_lines import LogFilter
from emu.net.logs import LogFile
from emu.texts import timestamp
from emu.times import Moment

START = 1_800_000_000


def line(number: int, text: str = "") -> str:
    return f"{timestamp(START + number)} info  world: {text or f'line {number}'}\n"


def write(path: Path, first: int, last: int) -> None:
    path.write_text("".join(line(one) for one in range(first, last)))


def texts(path: Path, wanted: LogFilter | None = None, **values: int) -> list[list[str]]:
    """Return all pages of a search, the newest first."""
    pages, place = [], log_files.NEWEST
    while True:
        page = search_log(path, wanted or LogFilter(), place, **({"most": 10} | values))
        pages.append([one.text for one in page.lines])
        if page.next is None:
            return pages
        assert page.next != place
        place = page.next


def test_the_newest_lines_come_first_and_older_ones_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    write(path, 20, 33)
    write(tmp_path / "emu.log.1", 5, 20)
    write(tmp_path / "emu.log.2", 0, 5)
    pages = texts(path)
    assert [len(one) for one in pages] == [10, 10, 10, 3]
    assert pages[0] == [f"line {one}" for one in range(23, 33)]
    assert sum(reversed(pages), []) == [f"line {one}" for one in range(33)]  # noqa: RUF017


def compress(path: Path) -> None:
    """As logrotate does it."""
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def test_files_that_logrotate_has_compressed_are_searched_too(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    write(path, 30, 33)
    for number, first in ((1, 20), (2, 10), (3, 0)):
        write(tmp_path / f"emu.log.{number}", first, first + 10)
    compress(tmp_path / "emu.log.2")
    compress(tmp_path / "emu.log.3")
    pages = texts(path, most=7)
    assert [len(one) for one in pages] == [7, 7, 7, 7, 5]
    assert sum(reversed(pages), []) == [f"line {one}" for one in range(33)]  # noqa: RUF017


def test_files_that_logrotate_has_named_by_their_dates_are_searched_too(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    write(path, 40, 43)
    names = ("20261129-1796000000", "20261129", "20261128", "20250101")  # logrotate(8): dateformat
    for number, name in enumerate(names):
        write(tmp_path / f"emu.log-{name}", 30 - number * 10, 40 - number * 10)
    compress(tmp_path / "emu.log-20250101")
    for other in (
        "emu.log-2026",
        "emu.log.old",
        "emu.log-20261129.bak",
        "emu.log.0",
        "other.log-20261129",
    ):
        write(tmp_path / other, 900, 901)
    pages = texts(path, most=7)
    assert sum(reversed(pages), []) == [f"line {one}" for one in range(43)]  # noqa: RUF017


def test_of_a_damaged_or_very_large_compressed_file_the_beginning_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, old = tmp_path / "emu.log", tmp_path / "emu.log.1"
    write(path, 500, 503)
    write(old, 0, 500)
    line_size = old.stat().st_size // 500
    compress(old)
    packed = old.with_name("emu.log.1.gz")
    good = packed.read_bytes()
    packed.write_bytes(good[: len(good) // 2])
    (found,) = texts(path, most=1000)
    assert (found[0], found[-3:]) == ("line 0", ["line 500", "line 501", "line 502"])
    assert 10 < len(found) < 500
    monkeypatch.setattr(log_files, "MOST_INFLATED", 10 * line_size)
    packed.write_bytes(good)
    assert 10 < len(texts(path, most=1000)[0]) < 16
    packed.write_bytes(b"no gzip")
    assert texts(path, most=1000) == [["line 500", "line 501", "line 502"]]


@pytest.mark.parametrize("block", [1, 7, 64, 4096])
def test_lines_are_whole_whatever_a_block_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(log_files, "BLOCK", block)
    path = tmp_path / "emu.log"
    data = "första\n\nandra raden\nlast without an end"
    path.write_text(data, encoding="utf-8")
    with path.open("rb") as file:
        found = list(lines_backwards(file, path.stat().st_size))
    assert [text for _, text in found] == ["last without an end", "andra raden", "första"]
    raw = data.encode()
    assert [raw[at : at + len(text.encode())].decode() for at, text in found] == [
        text for _, text in found
    ]


def test_a_line_without_an_end_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "BLOCK", 1024)
    path = tmp_path / "emu.log"
    path.write_bytes(b"x" * 100_000 + b"\n" + line(1).encode())
    with path.open("rb") as file:
        found = list(lines_backwards(file, path.stat().st_size))
    assert [len(text) for _, text in found] == [len(line(1)) - 1, log_files.LONGEST_LINE]


def test_a_traceback_belongs_to_the_line_above_it(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    path.write_text(line(1) + "Traceback\n  File x\nValueError: y\n" + line(2))
    first, second = search_log(path, LogFilter(), most=10).lines
    assert first.details == "Traceback\n  File x\nValueError: y"
    assert second.details == ""
    assert len(search_log(path, LogFilter(word="valueerror"), most=10).lines) == 1


def test_a_search_reads_a_bounded_piece_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    write(path, 0, 1000)
    page = search_log(path, LogFilter(word="line 7"), most=500, most_bytes=2000)
    assert page.lines == []
    assert page.next is not None
    pages = texts(path, LogFilter(word="line 77"), most_bytes=2000)
    assert [one for page_ in reversed(pages) for one in page_] == [
        "line 77", *(f"line {one}" for one in range(770, 780)),
    ]  # fmt: skip
    assert len(pages) > 10


def test_a_search_ends_before_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "emu.log"
    write(path, 0, 100)
    page = search_log(path, LogFilter(since=Moment(START + 97), until=Moment(START + 98)), most=50)
    assert ([one.text for one in page.lines], page.next) == (["line 97", "line 98"], None)


def test_a_search_goes_on_in_its_file_after_a_rotation(tmp_path: Path) -> None:
    file = LogFile("emu.log", str(tmp_path), rotateLength=10_000, maxRotatedFiles=3)
    for number in range(20):
        file.write(line(number))
    path = tmp_path / "emu.log"
    page = search_log(path, LogFilter(), most=5)
    assert page.next is not None
    assert page.next.file == path.stat().st_ino
    file.rotate()
    file.write(line(20))
    file.close()
    older = search_log(path, LogFilter(), page.next, most=5)
    assert [one.text for one in older.lines] == [f"line {one}" for one in range(10, 15)]


def test_a_place_in_a_file_that_is_gone_has_no_lines(tmp_path: Path) -> None:
    write(tmp_path / "emu.log", 0, 5)
    assert search_log(tmp_path / "emu.log", LogFilter(), LogPlace(1, 50), most=5) == ([], None)
    assert search_log(tmp_path / "nothing.log", LogFilter(), most=5) == ([], None)
