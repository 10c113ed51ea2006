from __future__ import annotations

from emu.admin.web.sessions import RequestRefused


def test_a_refusal_is_counted_by_its_reason_and_reported_by_its_text() -> None:
    refusal = RequestRefused(429, "banned", "try again later", wait=60.0)
    assert str(refusal) == refusal.reason == "banned"
    assert (refusal.code, refusal.text, refusal.wait) == (429, "try again later", 60.0)
