"""Wording of events: one line each, and no text of an unauthenticated peer breaks it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.login import events
from emu.login.events import AccountLoggedIn, LoginEvent, LoginRefused, event_values, format_event

CLIENT_LOG_KINDS = [
    kind
    for kind in vars(events).values()
    if isinstance(kind, type) and issubclass(kind, LoginEvent) and kind is not LoginEvent
]


def filled(kind: type[LoginEvent], text: str, number: int) -> LoginEvent:
    values: dict[str, Any] = {
        item.name: text if item.type == "str" else number for item in dataclasses.fields(kind)
    }
    return kind(**values)


def test_a_login_reads_as_a_sentence() -> None:
    line = format_event(AccountLoggedIn("192.0.2.1", "tester", 5, 546))
    assert line == "login of tester from 192.0.2.1, client 546"


def test_a_refusal_names_reason_and_address() -> None:
    line = format_event(LoginRefused("192.0.2.1", "", "bad password", 546))
    assert line == "login of (no name) from 192.0.2.1 refused: bad password"


@pytest.mark.parametrize("kind", CLIENT_LOG_KINDS)
def test_every_event_has_wording_a_level_and_no_password(kind: type[LoginEvent]) -> None:
    assert kind.level in {"debug", "info", "warn"}
    assert "word" in format_event(filled(kind, "word", 7))
    assert "password" not in {item.name for item in dataclasses.fields(kind)}


@given(st.text())
def test_values_are_as_printable_and_short_as_the_line(name: str) -> None:
    values = event_values(LoginRefused("192.0.2.1", name, "bad password", 546))
    assert values.keys() == {"address", "account", "reason", "version"}
    assert str(values["account"]).isprintable()
    assert len(str(values["account"])) < 800


@given(st.text(), st.integers())
def test_a_name_of_the_network_stays_on_one_short_line(name: str, number: int) -> None:
    line = format_event(LoginRefused("192.0.2.1", name, f"because {name}", number))
    assert line.isprintable()
    assert len(line) < 2000


def test_a_line_break_in_a_name_is_shown_as_such() -> None:
    line = format_event(LoginRefused("192.0.2.1", "a\nlogin of root", "bad password"))
    assert "a\\x0alogin of root" in line
