from __future__ import annotations

import pytest

from emu.errors import MalformedMessage, StructValueError
from emu.link.messages import BugReport, EmoteMessage


def test_a_bug_report_has_its_fields_in_place() -> None:
    report = BugReport(
        "Other", "Zone", "no", "yes", "stuck", "I am stuck", "546", "Aldana", 101, "a rat", 7, 12
    )
    raw = report.encode()
    assert len(raw) == 2556
    assert raw[:5] == b"Other"
    assert raw[64:68] == b"Zone"
    assert raw[256:261] == b"stuck"
    assert raw[384:394] == b"I am stuck"
    assert raw[2384:2387] == b"546"
    assert raw[2416:2422] == b"Aldana"
    assert raw[2480:2484] == b"\x65\0\0\0"
    assert raw[2484:2489] == b"a rat"
    assert raw[2548:] == b"\7\0\0\0\x0c\0\0\0"
    assert BugReport.decode(raw) == report


def test_an_emote_is_seventy_four_bytes_and_text() -> None:
    emote = EmoteMessage("Aldana", 1, -2, 3, "Hail")
    raw = emote.encode()
    assert len(raw) == 74 + 5
    assert EmoteMessage.decode(raw) == emote
    with pytest.raises(MalformedMessage):
        EmoteMessage.decode(raw[:73])
    with pytest.raises(MalformedMessage):
        EmoteMessage.decode(bytes(70_000))
    with pytest.raises(StructValueError):
        EmoteMessage("", 1, 99999, 0, "").encode()
