import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import (
    BIG,
    LITTLE,
    ByteOrder,
    Value,
    ValueType,
    pull_values,
    push_values,
    uint32,
    utf8,
)
from emu.errors import LocalProtocolError, MalformedMessage

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
VALUES = st.one_of(
    st.builds(Value, st.just(ValueType.UINT32), st.integers(0, 2**32 - 1)),
    st.builds(Value, st.just(ValueType.INT32), st.integers(-(2**31), 2**31 - 1)),
    st.builds(Value, st.just(ValueType.UINT64), st.integers(0, 2**64 - 1)),
    st.builds(Value, st.just(ValueType.INT64), st.integers(-(2**63), 2**63 - 1)),
    st.builds(Value, st.just(ValueType.DOUBLE), st.floats(allow_nan=False)),
    st.builds(Value, st.just(ValueType.ASCII), st.text(st.characters(max_codepoint=127))),
    st.builds(Value, st.just(ValueType.UTF8), TEXTS),
    st.builds(Value, st.integers(0x80, 0xFF), st.binary(max_size=255)),
)


@given(st.lists(VALUES, min_size=1, max_size=8), st.sampled_from((BIG, LITTLE)))
def test_values_are_read_as_they_were_written(values: list[Value], order: ByteOrder) -> None:
    assert pull_values(push_values(values, order), order) == tuple(values)


def test_the_bytes() -> None:
    values = (
        uint32(7),
        Value(ValueType.INT32, -2),
        Value(ValueType.DOUBLE, 1.5),
        utf8("\u00e9"),
    )
    assert push_values(values).hex() == "040400000000070401fffffffe08043ff80000000000000206c3a9"
    assert push_values(values, LITTLE).hex() == (
        "040400070000000401feffffff0804000000000000f83f0206c3a9"
    )


@pytest.mark.parametrize(
    "data",
    [
        "", "00", "09" + "010081" * 9, "01", "0104", "01040000", "0103000102ff", "010207ffff",
        "010105ff", "010106ff", "0105" + "00" * 8, "0100810000", "0104040000000000", "010106c3",
    ],
)  # fmt: skip
def test_what_is_refused(data: str) -> None:
    with pytest.raises(MalformedMessage):
        pull_values(bytes.fromhex(data))


@pytest.mark.parametrize(
    "values",
    [
        [],
        [uint32(1)] * 9,
        [Value(ValueType.UINT32, -1)],
        [Value(ValueType.INT32, "x")],
        [Value(ValueType.ASCII, "\u00e9")],
        [Value(ValueType.UTF8, "x" * 256)],
        [Value(7, b"")],
        [Value(0x80, "text")],
    ],
)
def test_what_cannot_be_sent(values: list[Value]) -> None:
    with pytest.raises(LocalProtocolError):
        push_values(values)


def test_what_is_made_to_fit() -> None:
    assert uint32(1 << 40).value == 0xFFFFFFFF
    assert uint32(-1).value == 0
    assert utf8("x" * 254 + "\u00e9").value == "x" * 254


@given(st.binary(max_size=80))
def test_garbage(data: bytes) -> None:
    try:
        values = pull_values(data)
    except MalformedMessage:
        return
    assert pull_values(push_values(values))
