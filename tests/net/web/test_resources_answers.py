"""Files of the page are those that ship, and name nothing elsewhere."""

from __future__ import annotations

import json
import re

import pytest
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure
from twisted.web.server import NOT_DONE_YET
from twisted.web.test.requesthelper import DummyRequest

from emu.errors import StoreError
from emu.files import data_file
from emu.net.web.resources import SECURITY, TYPES, LateAnswer
from emu.net.web.service import FILES


@pytest.mark.parametrize("name", ["index.html", *FILES])
def test_nothing_is_loaded_from_elsewhere(name: str) -> None:
    text = data_file("web", name).read_text(encoding="utf-8")
    assert f".{name.rpartition('.')[2]}" in TYPES
    links = re.findall(r"https?://[^\s\"']+", text)
    assert set(links) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|eval\(|on(click|load)=|style=", text)


def test_the_page_may_run_its_own_scripts_only() -> None:
    policy = SECURITY["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("is_broken", [False, True])
def test_what_has_to_be_read_first_is_answered_later(*, is_broken: bool) -> None:
    done: Deferred[object] = Deferred()
    request = DummyRequest([b""])
    assert LateAnswer(lambda: done).render_GET(request) == NOT_DONE_YET
    assert request.finished == 0
    if is_broken:
        done.errback(StoreError("locked"))
    else:
        done.callback([1])
    body = json.loads(b"".join(request.written))
    assert (request.finished, request.responseCode) == (1, 503 if is_broken else 200)
    assert body == (
        {"ok": False, "text": "the database does not answer; try again"} if is_broken else [1]
    )


def test_who_has_gone_is_not_answered() -> None:
    done: Deferred[object] = Deferred()
    request = DummyRequest([b""])
    LateAnswer(lambda: done).render_GET(request)
    request.processingFailed(Failure(ConnectionError()))
    done.callback([1])
    assert request.written == []
