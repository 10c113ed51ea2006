from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import GgmpAct, GgmpMessage, GgmpMessageType
from emu.admin.ggmp.peer import MOST_OPEN, GgmpWindow, Transfers, Whole
from emu.times import Monotonic

NOW = Monotonic(10.0)
ACT = GgmpAct(1, 2, 3, 4)


def messages(start: int, data: bytes, size: int, first: GgmpMessageType) -> list[GgmpMessage]:
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    own = parts.pop(0) if first is GgmpMessageType.ACTION_DATA and len(parts) > 1 else b""
    made = [GgmpMessage(first, 1, start, act=ACT, data=own)]
    for index, part in enumerate(parts):
        kind = GgmpMessageType.DATA_END if index + 1 == len(parts) else GgmpMessageType.DATA
        number = (start + 1 + index) & 0xFFFFFFFF
        made.append(GgmpMessage(kind, 1, number, parent=start, data=part))
    return made


@given(
    st.sampled_from([0, 5, 0xFFFFFFF0, 0xFFFFFFFF]),
    st.binary(max_size=300),
    st.sampled_from([GgmpMessageType.ACTION_EXTENDED, GgmpMessageType.ACTION_DATA]),
    st.randoms(),
)
def test_whatever_the_order_the_data_are_put_together(
    start: int, data: bytes, first: GgmpMessageType, random: object
) -> None:
    sent = messages(start, data, 40, first)
    random.shuffle(sent)  # type: ignore[attr-defined]
    transfers, window = Transfers(), GgmpWindow(32)
    found: list[Whole] = []
    for message in sent:
        assert found == []
        window.mark_received(message.id)
        transfers.handle_message(message, NOW)
        found += transfers.finished(window)
    assert found == [Whole(ACT, data)]
    assert len(transfers) == 0


def test_a_gap_shows() -> None:
    transfers, window = Transfers(), GgmpWindow(32)
    for message in messages(1, b"abcdef", 2, GgmpMessageType.ACTION_EXTENDED):
        if message.id != 3:
            window.mark_received(message.id)
            transfers.handle_message(message, NOW)
    assert transfers.finished(window) == []
    window.mark_received(3)  # it was something else
    assert transfers.finished(window) == [Whole(ACT, b"abef")]


def test_orphans_wait_two_seconds() -> None:
    transfers, window = Transfers(), GgmpWindow(32)
    transfers.handle_message(GgmpMessage(GgmpMessageType.DATA_END, 1, 8, parent=7, data=b"x"), NOW)
    transfers.forget_idle(Monotonic(NOW + 2.0))
    assert len(transfers) == 1
    transfers.forget_idle(Monotonic(NOW + 2.1))
    assert (len(transfers), transfers.dropped) == (0, 1)
    assert transfers.finished(window) == []


def test_limits() -> None:
    transfers = Transfers()
    for parent in range(100):
        transfers.handle_message(
            GgmpMessage(GgmpMessageType.ACTION_EXTENDED, 1, parent, act=ACT), NOW
        )
    assert len(transfers) == MOST_OPEN
    for part in range(300):
        transfers.handle_message(
            GgmpMessage(GgmpMessageType.DATA, 1, 200 + part, parent=99, data=b""), NOW
        )
    assert transfers.dropped == 100 - MOST_OPEN + 1
    transfers = Transfers()
    for part in range(256):
        transfers.handle_message(
            GgmpMessage(GgmpMessageType.DATA, 1, part, parent=1000, data=bytes(255)), NOW
        )
    assert len(transfers) == 1
    transfers.handle_message(
        GgmpMessage(GgmpMessageType.DATA, 1, 256, parent=1000, data=bytes(255)), NOW
    )
    assert len(transfers) == 0
