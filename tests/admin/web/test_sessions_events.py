from __future__ import annotations

from emu.admin.web.sessions import SignedIn, SignedOut


def test_who_signs_in_and_out_is_reported_in_a_line() -> None:
    signed_in = SignedIn("boss", "192.0.2.1", 200)
    assert signed_in.text == "boss signed in from 192.0.2.1 with rank 200"
    assert SignedOut("boss", "by itself").text == "boss was signed out: by itself"
