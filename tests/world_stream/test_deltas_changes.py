"""What is not as it was."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.world_stream.deltas import changed_elements, changed_fields


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"b": 3}),
        ({}, {"a": 0}, {"a": 0}),
        ({"a": [1, 2]}, {"a": [1, 3]}, {"a": [1, 3]}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 5}}, {"a": {"y": 5}}),
        ({"a": [{"x": 1}, {"x": 2}]}, {"a": [{"x": 1}, {"x": 3}]}, {"a[1]": {"x": 3}}),
        ({"a": math.nan}, {"a": math.nan}, {}),
        ({"a": [math.nan]}, {"a": [math.nan]}, {}),
        ({"a": math.nan}, {"a": 1.0}, {"a": 1.0}),
    ],
)
def test_changes(before: Any, after: Any, changed: Any) -> None:
    assert changed_fields(before, after) == changed


def test_new_elements_are_whole() -> None:
    changed = changed_elements("a", [{"x": 1, "y": 0}], [{"x": 1, "y": 0}, {"x": 2, "y": 0}])
    assert changed == {"a[1]": {"x": 2, "y": 0}}


@given(st.dictionaries(st.text(max_size=2), st.integers() | st.lists(st.floats())))
def test_nothing_changed_means_nothing(fields: dict[str, Any]) -> None:
    assert changed_fields(fields, fields) == {}
