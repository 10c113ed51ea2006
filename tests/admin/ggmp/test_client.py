import contextlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ggmp.client import GgmpClient
from emu.admin.ggmp.messages import LITTLE
from emu.errors import MalformedMessage
from emu.times import Monotonic
from tests.support.admin.ggmp import GUARD, Talk


@pytest.mark.parametrize("seed", range(5))
def test_over_a_bad_link_a_client_joins_and_acts_once(seed: int) -> None:
    random = Random(seed)
    talk = Talk(passes=lambda _data: random.random() < 0.75)
    talk.join()
    assert talk.client.id == 1
    talk.client.say(GUARD, "Halt!", talk.now)
    talk.settle(1.0)
    assert talk.actors.said == [(GUARD, "Halt!")]


def test_a_server_that_is_not_there() -> None:
    talk = Talk(passes=lambda _data: False)
    talk.join()
    assert (talk.client.id, talk.client.lost) == (0, 1)


def test_what_is_not_of_the_server() -> None:
    client = GgmpClient()
    with pytest.raises(MalformedMessage):
        client.receive(bytes.fromhex("ff00000100000000"), Monotonic(0.0))


def test_lists_of_actors() -> None:
    assert GgmpClient().listed_actors(bytes.fromhex("0000000100000002ff")) == [1, 2]
    assert GgmpClient(order=LITTLE).listed_actors(bytes.fromhex("0100000002000000")) == [1, 2]
    assert GgmpClient().listed_actors(b"") == []


def test_a_client_that_the_server_knows_does_not_join() -> None:
    client = GgmpClient(number=300)
    client.query(GUARD, Monotonic(0.0))
    (data,) = client.data_to_send()
    assert data[:4].hex() == "0000012c"


@given(st.binary(max_size=60))
def test_garbage(data: bytes) -> None:
    client = GgmpClient()
    with contextlib.suppress(MalformedMessage):
        client.receive(data, Monotonic(0.0))
