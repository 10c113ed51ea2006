"""Values that are written as TOML are read as the same values."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emu.schema.writing import toml_key, toml_value

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
PLAIN = (
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=True)
)  # fmt: skip
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)


@given(TEXTS, VALUES)
def test_what_is_written_is_read_again(key: str, value: Any) -> None:
    text = f"{toml_key(key)} = {toml_value(value)}\n"
    assert tomllib.loads(text) == {key: value}
    assert text.count("\n") == 1


def test_plain_keys_have_no_quotes() -> None:
    assert [toml_key(name) for name in ("show_level", "9", "a b", "", "ü")] == [
        "show_level", "9", '"a b"', '""', '"ü"',
    ]  # fmt: skip
