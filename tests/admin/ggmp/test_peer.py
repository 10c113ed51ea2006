from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import GgmpAct, GgmpMessage, GgmpMessageType, pull_message, uint32
from emu.admin.ggmp.peer import Delivery, GgmpPeer, Whole
from emu.times import Monotonic
from tests.support.examples import tries

NOW = Monotonic(0.0)
ACT = GgmpAct(45, 3)


def exchange(ends: tuple[GgmpPeer, GgmpPeer], chance: float, random: Random) -> list[Delivery]:
    """Half a second between two peers; each datagram arrives by chance, and some of them twice."""
    shown: list[Delivery] = []
    for step in range(100):
        now = Monotonic(step * 0.005)
        for sender, receiver in (ends, ends[::-1]):
            sender.handle_timer(now)
            for data in sender.data_to_send():
                for _ in range(2):
                    if random.random() < chance:
                        shown += receiver.receive(pull_message(data), now)
    return shown


@tries(30)
@given(st.lists(st.binary(max_size=900), max_size=6), st.integers())
def test_over_a_bad_link_everything_is_delivered_once(acts: list[bytes], seed: int) -> None:
    sender, receiver = GgmpPeer(1), GgmpPeer(0)
    for data in acts:
        sender.send_act(ACT, data, now=NOW)
    shown = exchange((sender, receiver), 0.8, Random(seed))
    assert len(shown) <= len(acts)
    if not sender.lost:
        assert sorted(shown, key=repr) == sorted((Whole(ACT, data) for data in acts), key=repr)
    assert sender.get_timer() is None


def test_nothing_is_lost_on_a_good_link() -> None:
    sender, receiver = GgmpPeer(1), GgmpPeer(0)
    sender.send_act(ACT, now=NOW)
    sender.send_values(uint32(5), now=NOW)
    sender.send_act(ACT, b"x" * 1000, now=NOW)
    shown = exchange((sender, receiver), 1.0, Random(1))
    assert shown == [Whole(ACT), (uint32(5),), Whole(ACT, b"x" * 1000)]
    assert receiver.counters["duplicate"] == 7
    assert sender.counters["ack for nothing"] == 21


def test_what_nobody_acknowledges_is_lost() -> None:
    sender, nobody = GgmpPeer(1), GgmpPeer(0)
    sender.send_act(ACT, now=NOW)
    exchange((sender, nobody), 0.0, Random(1))
    assert (sender.lost, sender.get_timer()) == (1, None)


def test_the_box_of_what_waits_is_bounded() -> None:
    sender = GgmpPeer(1)
    for _ in range(1000):
        sender.send_act(ACT, now=NOW)
    sender.send_values(uint32(1), now=NOW, wants_ack=False)
    assert len(sender.data_to_send()) == 257
    assert sender.counters["outbox full"] == 744


@pytest.mark.parametrize("wants_ack", [True, False])
def test_only_who_asks_is_acknowledged(wants_ack: bool) -> None:
    receiver = GgmpPeer(0)
    shown = receiver.receive(
        GgmpMessage(GgmpMessageType.RAW_DATA, 1, 9, wants_ack, data=b"raw"), NOW
    )
    assert shown == [b"raw"]
    assert receiver.data_to_send() == ([bytes.fromhex("ff00000000000009")] if wants_ack else [])


def test_the_two_counters_are_apart() -> None:
    receiver = GgmpPeer(0)
    assert receiver.receive(GgmpMessage(GgmpMessageType.ACTION_SHORT, 1, 9, act=ACT), NOW) == [
        Whole(ACT)
    ]
    assert receiver.receive(GgmpMessage(GgmpMessageType.ACTION, 1, 9, act=ACT), NOW) == [Whole(ACT)]
    assert receiver.receive(GgmpMessage(GgmpMessageType.ACTION_SHORT, 1, 9, act=ACT), NOW) == []


def test_the_counters_of_messages_wrap_after_32_and_16_bits() -> None:
    receiver = GgmpPeer(0)
    for number in (0xFFFFFFFF, 0, 1):
        raw = GgmpMessage(GgmpMessageType.RAW_DATA, 1, number, data=b"raw")
        assert receiver.receive(raw, NOW) == [b"raw"]
    for number in (0xFFFF, 0, 1):
        short = GgmpMessage(GgmpMessageType.ACTION_SHORT, 1, number, act=ACT)
        assert receiver.receive(short, NOW) == [Whole(ACT)]
