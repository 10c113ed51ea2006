"""Entries of a diary, for people and for programs."""

from emu.client.evening.diary import Diary, DiaryEntry


def test_entries_are_counted_and_passed_on() -> None:
    seen: list[DiaryEntry] = []
    diary = Diary(seen.append)
    entry = DiaryEntry(125.26, "kill", "a rat (level 1)", 2, 49)
    diary.add(entry)
    assert seen == diary.entries == [entry]
    assert diary.counts == {"kill": 1}
    assert entry.line().split() == [
        "2:05", "level", "2", "49", "c", "kill", "a", "rat", "(level", "1)",
    ]  # fmt: skip
    assert entry.record() == {
        "seconds": 125.3, "kind": "kill", "text": "a rat (level 1)", "level": 2, "coins": 49,
    }  # fmt: skip
