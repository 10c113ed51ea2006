"""Lines of the log, read as the server's own observers write them."""

from __future__ import annotations

import io
from typing import Any

import pytest
from twisted.logger import Logger, LogLevel
from twisted.python.failure import Failure

from emu.admin.log_lines import LogFilter, LogLine, log_line
from emu.net.logs import observer
from emu.times import Moment

MOMENT = 1_800_000_000.25


def written(form: str, text: str, worker: int | None = None, *, fails: bool = False) -> list[str]:
    """Return the lines that the server writes of an event."""
    stream = io.StringIO()
    event: dict[str, Any] = {
        "log_logger": Logger(namespace="emu.world"), "log_level": LogLevel.warn,
        "log_namespace": "emu.world", "log_source": None, "log_format": "{text}", "text": text,
        "log_time": MOMENT,
    }  # fmt: skip
    if fails:
        try:
            raise ValueError("broken")
        except ValueError:
            event["log_failure"] = Failure()  # type: ignore[no-untyped-call]
    write: Any = observer(form, stream, worker)
    write(event)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("text", ["Aldana left Antonica: camped", "{odd} ünïcode: 12:30"])
def test_a_line_of_either_form_is_read_as_it_was_meant(form: str, text: str) -> None:
    (line,) = written(form, text)
    found = log_line(line)
    assert found is not None
    assert (found.level, found.area, found.text) == ("warn", "world", text)
    assert found.moment == pytest.approx(MOMENT, abs=0.5)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_number_of_a_worker_is_a_part_of_the_area(form: str) -> None:
    found = log_line(written(form, "x", 2)[0])
    assert found is not None
    assert found.area == "world/2"
    assert LogFilter(area="world").admits(found)
    assert not LogFilter(area="login").admits(found)


def test_a_traceback_is_in_the_details_of_json_and_below_a_text() -> None:
    found = log_line(written("json", "x", fails=True)[0])
    assert found is not None
    assert "ValueError: broken" in found.details
    first, *more = written("text", "x", fails=True)
    assert log_line(first) is not None
    assert more
    assert not any(log_line(one) for one in more)


@pytest.mark.parametrize(
    "line",
    ["", "Traceback", "{", "{}", "[1]", '{"time": 5, "level": "info", "area": "a", "text": "b"}',
     '{"time": "x", "level": "info", "area": "a", "text": "b"}',
     "2026-99-28T20:55:34Z info  web: x", "2026-11-28T20:55:34Z loud  web: x"],
)  # fmt: skip
def test_what_is_no_line_is_nothing(line: str) -> None:
    assert log_line(line) is None


@pytest.mark.parametrize(
    ("wanted", "admits"),
    [
        (LogFilter(), True), (LogFilter("warn"), True), (LogFilter("error"), False),
        (LogFilter(area="world"), True), (LogFilter(area="worl"), False),
        (LogFilter(since=Moment(100.0)), True), (LogFilter(since=Moment(101.0)), False),
        (LogFilter(until=Moment(100.0)), True), (LogFilter(until=Moment(99.0)), False),
        (LogFilter(word="LEFT"), True), (LogFilter(word="entered"), False),
        (LogFilter(word="in host.py"), True),
    ],
)  # fmt: skip
def test_a_filter_chooses_lines(wanted: LogFilter, admits: bool) -> None:
    line = LogLine(Moment(100.0), "warn", "world", "Aldana left", "in host.py")
    assert wanted.admits(line) is admits
