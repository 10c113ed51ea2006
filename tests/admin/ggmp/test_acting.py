"""Actions, asked by a client of ours over a perfect link."""

import pytest

from emu.admin.ggmp.acting import GgmpAction, GgmpPlace, Grant
from emu.admin.ggmp.messages import BIG, LITTLE, GgmpAct, GgmpMessageType, pull_message
from emu.admin.ggmp.peer import Whole
from tests.support.admin.ggmp import BOB, GUARD, TOKEN, Talk


def plain(shown: list) -> list[list]:
    return [[value.value for value in values] for values in shown]


@pytest.fixture(params=[BIG, LITTLE], ids=lambda order: order.name)
def talk(request: pytest.FixtureRequest) -> Talk:
    made = Talk(order=request.param)
    made.join()
    assert made.client.id == 1
    return made


def test_query(talk: Talk) -> None:
    talk.client.query(GUARD, talk.now)
    guard = [1, GUARD, "a guard", 5, 1.0, 2.0, 3.0, 90.0]
    assert plain(talk.settle()) == [guard]
    talk.client.query_named("A Guard", talk.now)
    assert plain(talk.settle()) == [guard]
    talk.client.query(0, talk.now)
    assert plain(talk.settle())[0][:5] == [1, 0, "Qeynos", 2, 500]
    talk.client.query(99, talk.now)
    assert plain(talk.settle()) == [[1, 99, "refused", "there is no actor 99"]]
    talk.client.query_named("nobody", talk.now)
    assert plain(talk.settle()) == [[1, 0, "refused", "there is no actor nobody"]]


def test_an_actor_that_has_moved_is_reported_anew(talk: Talk) -> None:
    for z in (3.0, 4.0, 3.0):
        talk.actors.move(GUARD, GgmpPlace(1.0, 2.0, z, 90.0))
        talk.client.query(GUARD, talk.now)
        assert plain(talk.settle())[0][6] == z


def test_the_actors_of_a_zone(talk: Talk) -> None:
    talk.client.query_zone(5, talk.now)
    (whole,) = talk.settle()
    assert isinstance(whole, Whole)
    assert whole.act == GgmpAct(0, GgmpAction.QUERY, 5, 2)
    assert talk.client.listed_actors(whole.data) == [GUARD, BOB]
    talk.actors.inside = lambda _zone: list(range(1, 5000))  # type: ignore[assignment, method-assign]
    talk.client.query_zone(5, talk.now)
    (whole,) = talk.settle()
    assert isinstance(whole, Whole)
    assert talk.client.listed_actors(whole.data) == list(range(1, 2001))


def test_say(talk: Talk) -> None:
    talk.client.say(GUARD, "Halt! " + "x" * 400, talk.now)
    assert plain(talk.settle()) == [[3, GUARD, "done"]]
    assert talk.actors.said == [(GUARD, "Halt! " + "x" * 400)]
    talk.client.say(BOB, "I", talk.now)
    assert plain(talk.settle()) == [[3, BOB, "refused", "a player acts for itself"]]
    assert [(use.caller, use.ok, use.result) for use in talk.uses] == [
        ("radar", True, ""),
        ("radar", False, "a player acts for itself"),
    ]
    assert talk.uses[0].origin == "ggmp 192.0.2.50"
    for text in ("", "two\nlines", "x" * 513):
        talk.client.say(GUARD, text, talk.now)
        assert plain(talk.settle())[0][2] == "refused"


def test_move(talk: Talk) -> None:
    talk.client.move(GUARD, GgmpPlace(5.0, 6.0, 7.5, 180.0), talk.now)
    assert plain(talk.settle()) == [[4, GUARD, "done"]]
    assert talk.actors.actors[GUARD].place == (5.0, 6.0, 7.5, 180.0)
    talk.client._peer.send_act(GgmpAct(GUARD, 4, 1250, (-300) & 0xFFFFFFFF), now=talk.now)
    talk.settle()
    assert talk.actors.actors[GUARD].place == (12.5, 6.0, -3.0, 180.0)
    talk.client._peer.send_act(GgmpAct(GUARD, 4), talk.order.point.pack(1, 2, 3), now=talk.now)
    talk.settle()
    assert talk.actors.actors[GUARD].place == (1.0, 2.0, 3.0, 180.0)


def test_a_move_to_nowhere(talk: Talk) -> None:
    point = talk.order.point
    for data in (b"x", point.pack(1e9, 0, 0), point.pack(float("nan"), 0, 0)):
        talk.client._peer.send_act(GgmpAct(GUARD, 4), data, now=talk.now)
        assert plain(talk.settle())[0][2] == "refused"


def test_watch(talk: Talk) -> None:
    talk.client.watch(GUARD, 0.2, talk.now)
    first = plain(talk.settle(1.0))
    assert [one[2] for one in first] == ["done", "a guard"]
    talk.actors.move(GUARD, GgmpPlace(9.0, 9.0, 9.0, 0.0))
    assert [one[4:] for one in plain(talk.settle(1.0))] == [[9.0, 9.0, 9.0, 0.0]]
    assert talk.settle(1.0) == []
    del talk.actors.actors[GUARD]
    assert plain(talk.settle(1.0)) == [[2, GUARD, "gone"]]
    assert talk.settle(1.0) == []


def test_the_end_of_watching(talk: Talk) -> None:
    talk.client.watch(GUARD, 0.1, talk.now)
    talk.settle()
    talk.client.watch(GUARD, 0, talk.now)
    talk.settle()
    talk.actors.move(GUARD, GgmpPlace(9.0, 9.0, 9.0, 0.0))
    assert talk.settle() == []


def test_only_so_many_are_watched(talk: Talk) -> None:
    guard = talk.actors.actors[GUARD]
    talk.actors.actors |= dict.fromkeys(range(100, 165), guard)
    shown = []
    for actor in range(100, 165):
        talk.client.watch(actor, 5, talk.now)
        shown += plain(talk.settle(0.1))
    assert [one[1:] for one in shown if one[2] == "refused"] == [
        [164, "refused", "you watch 64 actors already"]
    ]


def test_a_token_allows_what_it_allows() -> None:
    talk = Talk(Grant("radar", TOKEN, frozenset((GgmpAction.QUERY,))))
    talk.join()
    talk.client.say(GUARD, "hello", talk.now)
    assert plain(talk.settle()) == [[3, GUARD, "refused", "your token does not allow say"]]
    talk.client._peer.send_act(GgmpAct(GUARD, 77), now=talk.now)
    assert plain(talk.settle()) == [[77, GUARD, "refused", "there is no action 77"]]
    assert talk.actors.said == []
    assert talk.uses == []


def test_an_answer_that_is_lost_is_sent_again(talk: Talk) -> None:
    lost: list[bytes] = []

    def passes(data: bytes) -> bool:
        kind = pull_message(data, talk.order).kind
        if lost or kind is not GgmpMessageType.ARB_DATA:
            return True
        lost.append(data)
        return False

    talk.passes = passes
    talk.client.query(GUARD, talk.now)
    assert plain(talk.settle()) == [[1, GUARD, "a guard", 5, 1.0, 2.0, 3.0, 90.0]]
    assert lost
