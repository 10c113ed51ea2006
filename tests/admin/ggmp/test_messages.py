import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import (
    BIG,
    LITTLE,
    ByteOrder,
    GgmpAct,
    GgmpMessage,
    GgmpMessageType,
    pull_message,
    push_message,
    push_values,
    uint32,
)
from emu.errors import LocalProtocolError, MalformedMessage
from tests.admin.ggmp.test_messages_values import VALUES

U32 = st.integers(0, 2**32 - 1)
U8 = st.integers(0, 255)
ACTS = st.builds(GgmpAct, U32, U32, U32, U32)
DATA = st.binary(max_size=255)
HEADS = {"client": st.integers(0, 2**24 - 1), "id": U32, "wants_ack": st.booleans()}


def kinds(*found: GgmpMessageType) -> st.SearchStrategy[GgmpMessageType]:
    return st.sampled_from(found)


def made(*fields, **named) -> GgmpMessage:
    """Every field that a strategy does not name stays as it is."""
    return GgmpMessage(*fields, **named)


MESSAGES = st.one_of(
    st.builds(
        made, kinds(GgmpMessageType.ACTION, GgmpMessageType.ACTION_EXTENDED), act=ACTS, **HEADS
    ),
    st.builds(
        made,
        kinds(GgmpMessageType.ACTION_DATA, GgmpMessageType.ACTION_DATA_END),
        act=ACTS,
        data=DATA,
        **HEADS,
    ),
    st.builds(
        made, kinds(GgmpMessageType.DATA, GgmpMessageType.DATA_END), parent=U32, data=DATA, **HEADS
    ),
    st.builds(made, kinds(GgmpMessageType.RAW_DATA), data=DATA, **HEADS),
    st.builds(
        made,
        kinds(GgmpMessageType.ARB_DATA),
        values=st.lists(VALUES, min_size=1, max_size=8).map(tuple),
        **HEADS,
    ),
    st.builds(
        made,
        kinds(GgmpMessageType.ACTION_SHORT),
        U8,
        st.integers(0, 2**16 - 1),
        st.booleans(),
        st.builds(GgmpAct, U8, U8, U8, U8),
    ),
    st.builds(
        made,
        kinds(GgmpMessageType.ACK, GgmpMessageType.CLIENT_ASSIGN),
        HEADS["client"],
        U32,
        st.just(False),
    ),
)
LENGTHS = {GgmpMessageType.ACTION: 24, GgmpMessageType.ACTION_SHORT: 8,
GgmpMessageType.ACTION_EXTENDED: 24, GgmpMessageType.ACK: 8,
           GgmpMessageType.CLIENT_ASSIGN: 8}  # fmt: skip
DATA_AT = {GgmpMessageType.DATA: 13, GgmpMessageType.DATA_END: 13, GgmpMessageType.RAW_DATA: 9,
GgmpMessageType.ACTION_DATA: 25,
           GgmpMessageType.ACTION_DATA_END: 25}  # fmt: skip


@given(MESSAGES, st.sampled_from((BIG, LITTLE)))
def test_a_message_is_read_as_it_was_written(message: GgmpMessage, order: ByteOrder) -> None:
    datagram = push_message(message, order)
    assert datagram[0] == message.kind + (not message.wants_ack and message.kind < 0xF0)
    assert pull_message(datagram, order) == message
    if message.kind in LENGTHS:
        assert len(datagram) == LENGTHS[message.kind]
    elif message.kind in DATA_AT:
        assert len(datagram) == DATA_AT[message.kind] + len(message.data)


@given(MESSAGES, st.binary(min_size=1, max_size=3))
def test_one_message_is_one_datagram(message: GgmpMessage, more: bytes) -> None:
    datagram = push_message(message)
    for wrong in (datagram + more, datagram[:-1]):
        with pytest.raises(MalformedMessage):
            pull_message(wrong)


def test_values_may_be_written_beforehand() -> None:
    values = (uint32(7), uint32(8))
    plain = GgmpMessage(GgmpMessageType.ARB_DATA, 1, 2, values=values)
    assert push_message(
        GgmpMessage(GgmpMessageType.ARB_DATA, 1, 2, data=push_values(values))
    ) == push_message(plain)


def test_an_odd_head_wants_no_ack() -> None:
    act = GgmpAct(0x2D, 3, 0xF4, 0)
    assert push_message(GgmpMessage(GgmpMessageType.ACTION, 1, 0, act=act)).hex() == (
        "00000001000000000000002d00000003000000f400000000"
    )
    assert push_message(GgmpMessage(GgmpMessageType.ACTION, 1, 0, wants_ack=False, act=act))[0] == 1
    assert not pull_message(b"\x01" + bytes(23)).wants_ack
    assert push_message(GgmpMessage(GgmpMessageType.ACK, 0, 0, wants_ack=False))[0] == 0xFF


def test_little_endian_turns_every_number_of_several_bytes() -> None:
    act = GgmpAct(0x2D, 3, 0xF4, 0)
    sent = {
        GgmpMessage(
            GgmpMessageType.ACTION, 1, 2, act=act
        ): "00010000020000002d00000003000000f400000000000000",
        GgmpMessage(
            GgmpMessageType.ACTION_SHORT, 1, 0x1234, act=GgmpAct(5, 6, 7, 8)
        ): "0201341205060708",
        GgmpMessage(
            GgmpMessageType.DATA, 1, 3, parent=2, data=b"ab"
        ): "0e0100000300000002000000026162",
        GgmpMessage(GgmpMessageType.RAW_DATA, 1, 3, data=b"a"): "10010000030000000161",
        GgmpMessage(
            GgmpMessageType.ARB_DATA, 0x10203, 8, values=(uint32(7),)
        ): "180302010800000001040007000000",
        GgmpMessage(GgmpMessageType.ACK, 0, 9, wants_ack=False): "ff00000009000000",
        GgmpMessage(GgmpMessageType.CLIENT_ASSIGN, 5, 9, wants_ack=False): "fe05000009000000",
    }
    for message, data in sent.items():
        assert push_message(message, LITTLE).hex() == data
        assert pull_message(bytes.fromhex(data), LITTLE) == message


@pytest.mark.parametrize("head", [0x06, 0x0C, 0x1A, 0xEF, 0xF0, 0xFD])
def test_unknown_heads(head: int) -> None:
    with pytest.raises(MalformedMessage, match="unknown"):
        pull_message(bytes((head,)) + bytes(23))


@pytest.mark.parametrize(
    "message",
    [
        GgmpMessage(GgmpMessageType.ACTION, 1, 0),
        GgmpMessage(GgmpMessageType.ACTION, 1 << 24, 0, act=GgmpAct(1, 1)),
        GgmpMessage(GgmpMessageType.ACTION, 1, 1 << 32, act=GgmpAct(1, 1)),
        GgmpMessage(GgmpMessageType.ACTION_SHORT, 256, 0, act=GgmpAct(1, 1)),
        GgmpMessage(GgmpMessageType.ACTION_SHORT, 1, 0, act=GgmpAct(256, 1)),
        GgmpMessage(GgmpMessageType.DATA, 1, 0, parent=-1),
        GgmpMessage(GgmpMessageType.RAW_DATA, 1, 0, data=bytes(256)),
        GgmpMessage(GgmpMessageType.ARB_DATA, 1, 0),
    ],
)
def test_what_cannot_be_sent(message: GgmpMessage) -> None:
    with pytest.raises(LocalProtocolError):
        push_message(message)


@given(st.binary(max_size=60))
def test_garbage(data: bytes) -> None:
    try:
        message = pull_message(data)
    except MalformedMessage:
        return
    assert push_message(message) == data
