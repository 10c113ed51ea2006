from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import Act, Kind, Message
from emu.admin.ggmp.transfers import MOST_OPEN, Transfers, Whole
from emu.admin.ggmp.window import Window
from emu.times import Monotonic

NOW = Monotonic(10.0)
ACT = Act(1, 2, 3, 4)


def messages(start: int, data: bytes, size: int, first: Kind) -> list[Message]:
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    own = parts.pop(0) if first is Kind.ACTION_DATA and len(parts) > 1 else b""
    made = [Message(first, 1, start, act=ACT, data=own)]
    for index, part in enumerate(parts):
        kind = Kind.DATA_END if index + 1 == len(parts) else Kind.DATA
        number = (start + 1 + index) & 0xFFFFFFFF
        made.append(Message(kind, 1, number, parent=start, data=part))
    return made


@given(
    st.sampled_from([0, 5, 0xFFFFFFF0, 0xFFFFFFFF]),
    st.binary(max_size=300),
    st.sampled_from([Kind.ACTION_EXTENDED, Kind.ACTION_DATA]),
    st.randoms(),
)
def test_whatever_the_order_the_data_are_put_together(
    start: int, data: bytes, first: Kind, random: object
) -> None:
    sent = messages(start, data, 40, first)
    random.shuffle(sent)  # type: ignore[attr-defined]
    transfers, window = Transfers(), Window(32)
    found: list[Whole] = []
    for message in sent:
        assert found == []
        window.take(message.id)
        transfers.take(message, NOW)
        found += transfers.finished(window)
    assert found == [Whole(ACT, data)]
    assert len(transfers) == 0


def test_a_gap_shows() -> None:
    transfers, window = Transfers(), Window(32)
    for message in messages(1, b"abcdef", 2, Kind.ACTION_EXTENDED):
        if message.id != 3:
            window.take(message.id)
            transfers.take(message, NOW)
    assert transfers.finished(window) == []
    window.take(3)  # it was something else
    assert transfers.finished(window) == [Whole(ACT, b"abef")]


def test_orphans_wait_two_seconds() -> None:
    transfers, window = Transfers(), Window(32)
    transfers.take(Message(Kind.DATA_END, 1, 8, parent=7, data=b"x"), NOW)
    transfers.forget_idle(Monotonic(NOW + 2.0))
    assert len(transfers) == 1
    transfers.forget_idle(Monotonic(NOW + 2.1))
    assert (len(transfers), transfers.dropped) == (0, 1)
    assert transfers.finished(window) == []


def test_limits() -> None:
    transfers = Transfers()
    for parent in range(100):
        transfers.take(Message(Kind.ACTION_EXTENDED, 1, parent, act=ACT), NOW)
    assert len(transfers) == MOST_OPEN
    for part in range(300):
        transfers.take(Message(Kind.DATA, 1, 200 + part, parent=99, data=b""), NOW)
    assert transfers.dropped == 100 - MOST_OPEN + 1
    transfers = Transfers()
    for part in range(256):
        transfers.take(Message(Kind.DATA, 1, part, parent=1000, data=bytes(255)), NOW)
    assert len(transfers) == 1
    transfers.take(Message(Kind.DATA, 1, 256, parent=1000, data=bytes(255)), NOW)
    assert len(transfers) == 0
