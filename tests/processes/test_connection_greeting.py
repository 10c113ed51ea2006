"""Who proves the secret is let in, and nothing of a greeting can be used again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emu.errors import MalformedMessage, PeerError
from emu.processes.connection import (
    Frame,
    HubGreeting,
    MemberGreeting,
    OwnProcess,
    ProcessJoined,
    ProcessRefused,
    printable,
)

SECRET = b"known to all of them"


def hub(
    secret: bytes = SECRET, number: bytes = b"h" * 16, against: Callable[[str], str] = lambda _: ""
) -> HubGreeting:
    return HubGreeting(OwnProcess("hub", secret, lambda: {"port": 1}), number, against)


def member(secret: bytes = SECRET, name: str = "east", number: bytes = b"m" * 16) -> MemberGreeting:
    return MemberGreeting(OwnProcess(name, secret, lambda: {"port": 2}), number)


def hello(one: MemberGreeting, other: HubGreeting) -> Frame:
    (challenge,) = other.begin()
    (said,), joined = one.take(challenge)
    assert joined is None
    return said


def test_both_learn_who_the_other_is() -> None:
    one, other = member(), hub()
    (welcome,), joined = other.take(hello(one, other))
    assert joined == ProcessJoined("east", {"port": 2})
    assert one.take(welcome) == ([], ProcessJoined("hub", {"port": 1}))
    assert SECRET.hex() not in str(welcome)


def test_another_secret_lets_nobody_in() -> None:
    one, other = member(b"a different secret"), hub()
    with pytest.raises(ProcessRefused, match="the secret is another one"):
        other.take(hello(one, other))


def test_a_hub_that_does_not_know_the_secret_is_not_trusted() -> None:
    one = member()
    (challenge,) = hub().begin()
    one.take(challenge)
    with pytest.raises(ProcessRefused, match="does not know the secret"):
        one.take(["welcome", "hub", "0" * 64, {}])


def test_what_was_said_once_proves_nothing_to_another_challenge() -> None:
    said = hello(member(), hub())
    with pytest.raises(ProcessRefused):
        hub(number=b"n" * 16).take(said)


def test_a_hubs_own_proof_cannot_be_given_back_to_it() -> None:
    one, other = member(name="hub"), hub()
    said = hello(one, other)
    (welcome,), _ = other.take(said)
    with pytest.raises(ProcessRefused):
        hub().take(["hello", "hub", said[2], welcome[2], {}])


@pytest.mark.parametrize("name", ["", "x" * 32, "a\nb"])
def test_names_that_are_none(name: str) -> None:
    one, other = member(name=name), hub()
    with pytest.raises(ProcessRefused, match="no name"):
        other.take(hello(one, other))


def test_an_unwanted_process_is_refused_with_the_reason() -> None:
    one, other = member(), hub(against=lambda name: f"{name} is here already")
    with pytest.raises(ProcessRefused, match="east is here already"):
        other.take(hello(one, other))
    with pytest.raises(ProcessRefused, match="no, thanks"):
        one.take(["refused", "no, thanks\n"])


@pytest.mark.parametrize(
    "frame",
    [["x"], ["hello"], ["hello", "east", "zz", "", {}], ["hello", "east", "00", "", {}],
     ["hello", 1, "00" * 16, "", {}], ["welcome", "hub", "", {}], ["challenge", 1, "zz"]],
)  # fmt: skip
def test_what_is_no_greeting(frame: Frame) -> None:
    for side in (hub(), member()):
        with pytest.raises(PeerError):
            side.take(frame)


def test_a_hub_of_another_version_is_named() -> None:
    with pytest.raises(ProcessRefused, match="version 9"):
        member().take(["challenge", 9, "00" * 16])
    one = member()
    one.take(["challenge", 1, "00" * 16])
    with pytest.raises(MalformedMessage):
        one.take(["challenge", 1, "00" * 16])


def test_only_what_can_be_shown_is_shown() -> None:
    assert printable("a\x1b[31mb" + "c" * 500) == "a[31mb" + "c" * 193
