"""The webhook's queue: bodies, order, pauses and bounds."""

import json

import pytest

from emu.admin.webhook import (
    ATTEMPTS,
    LONGEST_PAUSE,
    LONGEST_TEXT,
    QUEUE_LIMIT,
    WebhookEvent,
    WebhookFormat,
    WebhookNotice,
    WebhookQueue,
)
from emu.times import Moment, Monotonic

START = Monotonic(100.0)


def notice(text: str = "Norrath is up.", **values: str) -> WebhookNotice:
    moment = Moment(1_763_900_000.0)
    return WebhookNotice(WebhookEvent.UP, text, moment, tuple(values.items()))


def queue(form: WebhookFormat = WebhookFormat.JSON) -> WebhookQueue:
    return WebhookQueue(form, "Norrath")


def sent(waiting: WebhookQueue, now: Monotonic = START) -> dict[str, object]:
    body = waiting.next_request(now)
    assert body is not None
    return json.loads(body)


def test_a_json_request_has_one_event_with_its_values() -> None:
    waiting = queue()
    waiting.add_notice(notice("Borvik entered Antonica.", player="Borvik", zone="Antonica"))
    waiting.add_notice(notice())
    assert sent(waiting) == {
        "event": "up", "time": "2025-11-23T12:13:20Z", "server": "Norrath",
        "text": "Borvik entered Antonica.", "player": "Borvik", "zone": "Antonica",
    }  # fmt: skip
    assert waiting.next_request(START) is None, "one request at a time"
    assert waiting.answered(200, START)
    assert sent(waiting)["text"] == "Norrath is up."


def test_a_discord_request_has_all_that_waits_and_notifies_nobody() -> None:
    waiting = queue(WebhookFormat.DISCORD)
    waiting.add_notice(notice("@everyone *entered* Antonica."))
    waiting.add_notice(notice("second"))
    value = sent(waiting)
    assert value["content"] == "@everyone \\*entered\\* Antonica.\nsecond"
    assert value["allowed_mentions"] == {"parse": []}
    assert value["username"] == "Norrath"


def test_a_discord_message_is_never_too_long() -> None:
    waiting = queue(WebhookFormat.DISCORD)
    for _ in range(50):
        waiting.add_notice(notice("x" * 150))
    lengths = []
    while len(waiting):
        lengths.append(len(str(sent(waiting)["content"])))
        assert waiting.answered(204, START)
    assert len(lengths) == 4
    assert max(lengths) <= LONGEST_TEXT
    waiting.add_notice(notice("*" * 5000))
    assert len(str(sent(waiting)["content"])) == LONGEST_TEXT


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_failed_request_is_repeated_later_and_later_then_given_up(status: int) -> None:
    waiting = queue()
    waiting.add_notice(notice())
    now, pauses = START, []
    for _ in range(ATTEMPTS - 1):
        assert waiting.next_request(now) is not None
        assert not waiting.answered(status, now)
        due = waiting.get_timer()
        assert due is not None
        assert waiting.next_request(Monotonic(due - 0.001)) is None
        pauses.append(due - now)
        now = due
    assert pauses == [1, 2, 4, 8, 16]
    assert waiting.next_request(now) is not None
    assert waiting.answered(status, now)
    assert waiting.counts == {"dropped": 1}
    waiting.add_notice(notice())
    assert waiting.get_timer() == now + LONGEST_PAUSE, "a dead receiver is asked once a minute"


def test_the_receiver_may_ask_for_a_longer_pause_but_not_for_an_endless_one() -> None:
    waiting = queue()
    waiting.add_notice(notice())
    assert waiting.next_request(START) is not None
    assert not waiting.answered(429, START, retry_after=7.5)
    assert waiting.get_timer() == START + 7.5
    assert waiting.next_request(Monotonic(START + 7.5)) is not None
    assert not waiting.answered(429, START, retry_after=1e9)
    assert waiting.get_timer() == START + LONGEST_PAUSE


def test_a_refused_event_is_not_repeated() -> None:
    waiting = queue()
    waiting.add_notice(notice())
    assert waiting.next_request(START) is not None
    assert waiting.answered(404, START)
    assert waiting.get_timer() is None
    assert waiting.counts == {"refused": 1}


def test_a_full_queue_drops_its_oldest_events() -> None:
    waiting = queue()
    for number in range(QUEUE_LIMIT + 3):
        waiting.add_notice(notice(str(number)))
    assert len(waiting) == QUEUE_LIMIT
    assert waiting.counts == {"dropped": 3}
    assert sent(waiting)["text"] == "3"


def test_a_repeated_request_keeps_the_order() -> None:
    waiting = queue()
    for text in ("first", "second"):
        waiting.add_notice(notice(text))
    assert sent(waiting)["text"] == "first"
    assert not waiting.answered(500, START)
    assert sent(waiting, Monotonic(START + 1))["text"] == "first"
    assert waiting.answered(200, START)
    assert sent(waiting, Monotonic(START + 1))["text"] == "second"


def test_a_closed_queue_sends_at_once_and_repeats_nothing() -> None:
    waiting = queue()
    waiting.add_notice(notice("first"))
    assert waiting.next_request(START) is not None
    assert not waiting.answered(0, START)
    waiting.add_notice(notice("second"))
    waiting.close()
    for text in ("first", "second"):
        assert sent(waiting)["text"] == text
        assert waiting.answered(0, START)
    assert waiting.counts == {"dropped": 2}
