import math

import click
import pytest

from emu.cli.options import end_of, end_options, read_duration, read_moment
from emu.texts import timestamp


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("90m", 5400), ("12h", 43200), ("7d", 604800), ("2w", 1209600), (" 1d ", 86400)],
)
def test_spans_of_time(text: str, seconds: float) -> None:
    assert read_duration(text) == seconds


def test_the_longest_span_ends_on_a_date_that_can_be_written() -> None:
    assert timestamp(4e9 + read_duration("99999w")).startswith("4013-")


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5h", "1y", "100000w"])
def test_what_is_no_span_of_time(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write it like 90m"):
        read_duration(text)


def test_dates_are_utc_unless_they_say_otherwise() -> None:
    assert read_moment("1970-01-02") == 86400
    assert read_moment("1970-01-01 01:00") == 3600
    assert read_moment("1970-01-01T01:00+01:00") == 0
    with pytest.raises(click.BadParameter, match="write it like 2030-12-31"):
        read_moment("tomorrow")


def test_when_something_ends() -> None:
    assert end_of(None, None, 100.0) == math.inf
    assert end_of(None, 60.0, 100.0) == 160.0
    assert end_of(200.0, None, 100.0) == 200.0
    with pytest.raises(click.UsageError, match="not both"):
        end_of(200.0, 60.0, 100.0)
    with pytest.raises(click.UsageError, match="past"):
        end_of(100.0, None, 100.0)


def test_the_options_give_numbers() -> None:
    seen: list[object] = []

    @click.command()
    @end_options
    def ban(until: float | None, lasting: float | None) -> None:
        seen.extend((until, lasting))

    ban.main(["--until", "1970-01-02", "--for", "1m"], standalone_mode=False)
    ban.main([], standalone_mode=False)
    assert seen == [86400.0, 60.0, None, None]
