"""One end of a connection: greeting, silence, and bytes that are none of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.processes.connection import (
    Ended,
    HubGreeting,
    MemberGreeting,
    OwnProcess,
    ProcessJoined,
    ProcessLink,
    ProcessLinkLimits,
    Received,
    encode_frame,
)
from emu.times import Monotonic

SECRET = b"known to all of them"
START = Monotonic(100.0)


def ends(secret: bytes = SECRET) -> tuple[ProcessLink, ProcessLink]:
    hub = HubGreeting(OwnProcess("hub", SECRET), b"h" * 16, lambda _: "")
    return ProcessLink(hub, START), ProcessLink(
        MemberGreeting(OwnProcess("east", secret), b"m" * 16), START
    )


def exchange(one: ProcessLink, other: ProcessLink, now: Monotonic = START) -> None:
    for _ in range(4):
        for here, there in ((one, other), (other, one)):
            for data in here.data_to_send():
                there.receive_data(data, now)


def events(end: ProcessLink) -> list[object]:
    found = []
    while (event := end.next_event()) is not None:
        found.append(event)
    return found


def later(seconds: float) -> Monotonic:
    return Monotonic(START + seconds)


def test_after_the_greeting_frames_go_both_ways() -> None:
    hub, east = ends()
    east.send(["too early"], START)
    exchange(hub, east)
    assert (events(hub), events(east)) == ([ProcessJoined("east", {})], [ProcessJoined("hub", {})])
    hub.send(["note", 1], START)
    exchange(hub, east)
    assert events(east) == [Received(["note", 1])]


def test_a_process_with_a_wrong_secret_is_refused_and_the_connection_ends() -> None:
    hub, east = ends(b"another one")
    exchange(hub, east)
    assert events(hub) == [Ended("the secret is another one")]
    assert events(east) == [Ended("the secret is another one")]
    hub.send(["note"], START)
    assert hub.data_to_send() == []


def test_keep_alive_and_silence() -> None:
    hub, east = ends()
    assert hub.get_timer() == later(ProcessLinkLimits().greeting)
    exchange(hub, east)
    events(east)
    assert hub.get_timer() == later(5.0)
    hub.handle_timer(later(5.0))
    exchange(hub, east, later(5.0))
    assert events(east) == [], "what only keeps the connection alive is nobody's business"
    assert hub.get_timer() == later(10.0)
    east.handle_timer(later(20.9))
    assert not east.closed
    east.handle_timer(later(21.0))
    assert events(east) == [Ended("silent")]
    assert east.get_timer() is None


def test_who_does_not_greet_in_time_is_gone() -> None:
    hub, _ = ends()
    hub.handle_timer(later(10.0))
    assert events(hub) == [Ended("no greeting in time")]


def test_an_unauthenticated_peer_may_not_send_much() -> None:
    hub, _ = ends()
    hub.receive_data((5000).to_bytes(4, "big"), START)
    assert events(hub) == [Ended("frame too large")]
    hub, east = ends()
    exchange(hub, east)
    events(hub)
    hub.receive_data(encode_frame(["note", "x" * 100_000]), START)
    assert events(hub) == [Received(["note", "x" * 100_000])]


@given(st.lists(st.binary(max_size=60), max_size=12), st.booleans())
def test_no_bytes_raise(pieces: list[bytes], joined: bool) -> None:
    hub, east = ends()
    if joined:
        exchange(hub, east)
    for end in (hub, east):
        for data in pieces:
            end.receive_data(data, START)
        end.connection_lost(START)
        assert end.closed
        assert isinstance(events(end)[-1], Ended)
        assert end.data_to_send() == []


ANY_TEXT = st.text(st.characters(codec=None), max_size=40)


@given(ANY_TEXT, ANY_TEXT, st.sampled_from(["hello", "welcome", "refused", "challenge"]))
def test_no_greeting_of_any_texts_raises(name: str, proof: str, kind: str) -> None:
    """Halves of characters, which JSON can write, and letters beyond ASCII are texts as well."""
    hub, east = ends()
    east.receive_data(hub.data_to_send()[0], START)
    shapes = ([kind, name, "00" * 16, proof, {}], [kind, name, proof, {}], [kind, proof])
    for end, frame in ((end, frame) for end in (hub, east) for frame in shapes):
        end.receive_data(encode_frame(frame), START)
        assert end.joined is None
    assert hub.closed
    assert east.closed
