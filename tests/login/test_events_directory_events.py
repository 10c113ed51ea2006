from __future__ import annotations

from emu.login.events import StoreFailed, WorldLeft, WorldRefused, WorldRegistered, format_event


def test_events_are_one_line_each() -> None:
    lines = [
        format_event(WorldRegistered("192.0.2.1", "Norrath", 7, "0.9.9")),
        format_event(WorldRefused("192.0.2.1", "a\nb", "bad password")),
        format_event(WorldLeft("192.0.2.1", "Norrath", 7, "silent")),
        format_event(StoreFailed("192.0.2.1", 7, "disk full")),
    ]
    assert lines == [
        "world Norrath (7) registered from 192.0.2.1, 0.9.9",
        "world account a\\x0ab from 192.0.2.1 refused: bad password",
        "world Norrath (7) at 192.0.2.1 is gone: silent",
        "the store failed for world 7 at 192.0.2.1: disk full",
    ]
