import io
import json
import time

import pytest
from twisted.internet.error import ReactorNotRunning
from twisted.logger import Logger, LogLevel, globalLogPublisher
from twisted.python.failure import Failure

from emu.config import Address
from emu.net import logs


@pytest.fixture
def written():
    stream = io.StringIO()
    observers = []

    def start(form: str, level: str = "info") -> io.StringIO:
        logs.set_level(level)
        observers.append(logs.observer(form, stream))
        globalLogPublisher.addObserver(observers[-1])
        return stream

    yield start
    for observer in observers:
        globalLogPublisher.removeObserver(observer)
    logs.set_level("info")


def test_text_is_one_line_with_area_and_level(written) -> None:
    stream = written("text")
    logs.logger("login").info("{name} logged in", name="bob")
    assert stream.getvalue().endswith("info  login: bob logged in\n")


def test_a_name_from_the_network_cannot_forge_a_line(written) -> None:
    stream = written("text")
    logs.logger("login").info("{name} refused", name="bob\n2026 info login: root logged in\x1b[2J")
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()
    assert r"bob\n2026" in stream.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_has_the_place_of_an_object_in_memory(written, logged_failures, form: str) -> None:
    stream = written(form)
    thing, log = object(), logs.logger("login")
    log.info("got {thing} and {work}", thing=thing, work=written)
    logs.write_line(log, LogLevel.info, f"has {thing}", "event", {"one": thing})
    try:
        raise RuntimeError(repr(thing))
    except RuntimeError:
        log.failure("it failed")
    assert len(logged_failures.flush(RuntimeError)) == 1
    assert stream.getvalue().count("<object>") >= 3
    assert "0x" not in stream.getvalue()


def test_json_carries_the_fields(written) -> None:
    stream = written("json")
    logs.logger("login").warn("{name} refused: {reason}", name="böb", reason="bad password")
    record = json.loads(stream.getvalue())
    assert record["level"] == "warn"
    assert record["area"] == "login"
    assert record["text"] == "böb refused: bad password"
    assert record["name"] == "böb"
    assert record["reason"] == "bad password"


def test_below_the_level_nothing_is_written(written) -> None:
    stream = written("text", "warn")
    logs.logger("x").info("quiet")
    logs.logger("x").error("loud")
    assert "quiet" not in stream.getvalue()
    assert "loud" in stream.getvalue()


def test_failures_show_their_traceback_in_both_forms() -> None:
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError:
        failure = Failure()
    event = {"log_time": 0.0, "log_level": LogLevel.critical, "log_failure": failure}
    text, lines = io.StringIO(), io.StringIO()
    logs.TextLines(text)(event)
    logs.JsonLines(lines)(event)
    assert "ZeroDivisionError" in text.getvalue()
    assert "by zero" in text.getvalue().splitlines()[0]
    assert "ZeroDivisionError" in json.loads(lines.getvalue())["traceback"]


def test_a_second_signal_while_stopping_is_no_news() -> None:
    stream = io.StringIO()
    event = {"log_time": 0.0, "log_level": LogLevel.critical, "log_namespace": "twisted"}
    observer = logs.observer("text", stream)
    observer(event | {"log_failure": Failure(ReactorNotRunning()), "log_format": "again"})
    assert stream.getvalue() == ""
    observer(event | {"log_failure": Failure(ZeroDivisionError()), "log_format": "news"})
    assert "news" in stream.getvalue()


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_no_line_vanishes_where_the_terminal_is_not_utf_8(form: str, encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    observer = logs.observer(form, stream)
    event = {"log_time": 0.0, "log_level": LogLevel.info, "log_namespace": "emu.login"}
    for name in ("b\u00f6b", "\u4e2d\u6587", "bad \udc80"):
        observer(event | {"log_format": "{name} came", "name": name})
    lines = raw.getvalue().decode(encoding).splitlines()
    assert len(lines) == 3
    assert all(" came" in line for line in lines)
    if form == "json":
        texts = [json.loads(line)["text"] for line in lines]
        assert texts[:2] == ["b\u00f6b came", "\u4e2d\u6587 came"]


def test_times_are_utc_whatever_the_machine_s_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    event = {"log_time": 1763712000.0597, "log_level": LogLevel.info, "log_format": "x"}
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        text, lines = io.StringIO(), io.StringIO()
        logs.TextLines(text)(event)
        logs.JsonLines(lines)(event)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert text.getvalue().startswith("2025-11-21T08:00:00Z info")
    assert json.loads(lines.getvalue())["time"] == "2025-11-21T08:00:00.059Z"


def test_json_keeps_the_shape_of_addresses_and_lists() -> None:
    lines = io.StringIO()
    event = {"log_time": 0.0, "log_level": LogLevel.info, "log_format": "on {at}"}
    logs.JsonLines(lines)(event | {"at": Address("::1", 9100), "counts": {"a": 1}, "all": (1, "b")})
    record = json.loads(lines.getvalue())
    assert record["text"] == "on [::1]:9100"
    assert record["at"] == {"host": "::1", "port": 9100}
    assert (record["counts"], record["all"]) == ({"a": 1}, [1, "b"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_worded_line_is_written_as_any_other(written, form: str) -> None:
    stream = written(form)
    log, details = logs.logger("login"), {"account": "bob", "version": 546}
    log.emit(LogLevel.info, "{line}", line="login of {bob}", event="LoginAccepted", details=details)
    logs.write_line(log, LogLevel.info, "login of {bob}", "LoginAccepted", details)
    logs.write_line(log, LogLevel.debug, "not wanted", "LoginAccepted", details)
    first, second = stream.getvalue().splitlines()
    if form == "text":
        assert first.endswith(" info  login: login of {bob}")
        assert first.partition(" ")[2] == second.partition(" ")[2]
    else:
        assert json.loads(first) | {"time": ""} == json.loads(second) | {"time": ""}
        assert json.loads(first)["version"] == 546


def test_twisted_s_own_lines_keep_their_level(written) -> None:
    stream = written("text")
    quiet, loud = (Logger(namespace=name, observer=globalLogPublisher) for name in ("twisted", "x"))
    quiet.info("port starting")
    quiet.warn("something odd")
    loud.info("a plug-in's line")
    assert "starting" not in stream.getvalue()
    assert "something odd" in stream.getvalue()
    assert "plug-in" in stream.getvalue()


def test_the_last_lines_are_kept_as_they_would_be_written() -> None:
    last = logs.LastLines(3)
    globalLogPublisher.addObserver(last)
    try:
        log = logs.logger("login")
        for name in ("a", "b", "c", "d\nforged"):
            log.info("{name} logged in", name=name)
        log.debug("not written")
        Logger(namespace="twisted.internet").info("nor is this")
    finally:
        globalLogPublisher.removeObserver(last)
    kept = last.lines()
    assert [line[21:] for line in kept] == [
        "info  login: b logged in",
        "info  login: c logged in",
        "info  login: d\\nforged logged in",
    ]


def test_who_subscribes_hears_lines_but_those_for_debugging_until_it_ends() -> None:
    heard: list[tuple[str, ...]] = []
    logs.set_level("debug")
    end = logs.subscribe(lambda moment, *rest: heard.append(rest))
    world = logs.logger("world")
    world.info("{name} came", name="Ald\nana")
    world.debug("a step")
    world.warn("late")
    end()
    world.info("more")
    logs.set_level("info")
    assert heard == [
        ("info", "world", "Ald\\nana came"),
        ("warn", "world", "late"),
    ]


def test_the_lines_of_a_worker_have_its_number() -> None:
    text, lines = io.StringIO(), io.StringIO()
    for form, stream in (("text", text), ("json", lines)):
        made = logs.observer(form, stream, worker=2)
        globalLogPublisher.addObserver(made)
        logs.logger("login").warn("hello")
        globalLogPublisher.removeObserver(made)
    assert text.getvalue().endswith(" warn  login/2: hello\n")
    record = json.loads(lines.getvalue())
    assert (record["area"], record["worker"]) == ("login", 2)
