from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.messages import BIG, LITTLE, ORDERS, ByteOrder

EITHER = st.sampled_from((BIG, LITTLE))


@given(EITHER, st.integers(0, 0xFF), st.integers(0, 0xFFFFFF))
def test_the_head_is_the_first_byte(order: ByteOrder, head: int, client: int) -> None:
    packed = order.starts[0].pack(order.join_head(head, client), 7)
    assert packed[0] == head
    assert int.from_bytes(packed[1:4], order.name) == client
    assert order.client_of(order.starts[0].unpack(packed)[0]) == client


@given(EITHER, st.lists(st.integers(0, 0xFFFFFFFF)), st.binary(max_size=3))
def test_lists_of_actors(order: ByteOrder, actors: list[int], more: bytes) -> None:
    assert order.pull_actors(order.push_actors(actors) + more) == actors


def test_their_names() -> None:
    assert ORDERS == {"big": BIG, "little": LITTLE}
