import math

import pytest

from emu.texts import timestamp


@pytest.mark.parametrize(
    ("moment", "digits", "written"),
    [
        (0.0, 0, "1970-01-01T00:00:00Z"),
        (1763712000.0597, 0, "2025-11-21T08:00:00Z"),
        (1763712000.0597, 3, "2025-11-21T08:00:00.059Z"),
        (1763712000.0597, 6, "2025-11-21T08:00:00.059700Z"),
        (-1.5, 3, "1969-12-31T23:59:58.500Z"),
    ],
)
def test_a_moment_is_written_in_utc(moment: float, digits: int, written: str) -> None:
    assert timestamp(moment, digits) == written


@pytest.mark.parametrize("moment", [1e30, -1e30, math.inf, math.nan])
def test_what_is_no_date_is_refused(moment: float) -> None:
    with pytest.raises(ValueError):
        timestamp(moment)
