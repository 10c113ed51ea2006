"""The port for events: who gets what, and what a bad listener does."""

from __future__ import annotations

import pytest

from emu.net.watch import Report, Reports


def test_everybody_gets_what_they_asked_for_in_order() -> None:
    reports = Reports(pytest.fail)
    heard: list[tuple[str, Report]] = []
    reports.subscribe(lambda report: heard.append(("log", report)), "login")
    end = reports.subscribe(lambda report: heard.append(("page", report)))
    login, world = reports.port("login"), reports.port("world")
    login("a")
    world("b")
    end()
    end()
    login("c")
    assert heard == [
        ("log", Report("login", "a")), ("page", Report("login", "a")),
        ("page", Report("world", "b")), ("log", Report("login", "c")),
    ]  # fmt: skip


def test_a_listener_that_fails_keeps_nobody_from_the_event() -> None:
    failures: list[int] = []
    heard: list[object] = []
    reports = Reports(lambda: failures.append(1))

    def fail(report: Report) -> None:
        raise RuntimeError(report.area)

    reports.subscribe(fail)
    reports.subscribe(lambda report: heard.append(report.event))
    reports.port("login")(1)
    reports.port("login")(2)
    assert (heard, failures) == ([1, 2], [1, 1])


def test_a_listener_may_go_while_it_is_reported() -> None:
    reports = Reports(pytest.fail)
    heard: list[str] = []

    def once(report: Report) -> None:
        heard.append(report.event)
        end()

    end = reports.subscribe(once)
    send = reports.port("x")
    send("first")
    send("second")
    assert heard == ["first"]
