"""A bounded table of small records."""

import tracemalloc

from emu.session.admission import UNKNOWN_SESSION, HalfOpen, HalfOpenTable


def record(host="h", session_id=7, expires=5.0):
    return HalfOpen(session_id, 512, 1, host, expires, 0.0)


def test_a_record_counts_until_it_expires():
    table = HalfOpenTable(2)
    kept = record()
    table.add_record("a", kept, 0.0)
    assert table.get("a", 4.9) is kept
    assert table.get("a", 5.0) is None
    assert table.get("b", 0.0) is None
    assert len(table.records) == 1


def test_expired_records_are_pushed_out_first():
    table = HalfOpenTable(2)
    for name, expires in (("a", 5.0), ("b", 9.0), ("c", 10.0)):
        table.add_record(name, record(name, expires=expires), expires - 4.0)
    assert [table.get(name, 6.0) is not None for name in "abc"] == [False, True, True]


def test_the_oldest_record_of_the_same_host_is_pushed_out_first():
    table = HalfOpenTable(3)
    for name, host in (("a", "x"), ("b", "y"), ("c", "y"), ("d", "y"), ("e", "z")):
        table.add_record(name, record(host), 0.0)
    assert [name for name in "abcde" if table.get(name, 0.0)] == ["c", "d", "e"]


def test_an_address_has_one_record_and_may_lose_it_twice():
    table = HalfOpenTable(3)
    table.add_record("a", record(), 0.0)
    table.add_record("a", record(session_id=8), 0.0)
    assert len(table.records) == 1
    table.remove("a")
    table.remove("a")
    assert len(table.records) == 0
    assert not table._by_host


def test_of_two_session_ids_neither_is_believed():
    kept = record()
    kept.note_response(7, 64, 2)
    assert (kept.session_id, kept.max_length, kept.check_key, kept.responses) == (7, 64, 2, 1)
    kept.note_response(8, 512, 3)
    assert (kept.session_id, kept.max_length, kept.check_key, kept.responses) == (
        UNKNOWN_SESSION, 512, 3, 2,
    )  # fmt: skip
    kept.note_response(8, 512, 3)
    assert kept.session_id == UNKNOWN_SESSION


def test_a_record_is_small():
    table = HalfOpenTable(5000)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(4000):
            host = f"198.51.100.{number}"
            table.add_record((host, 1000 + number), record(host), 0.0)
        used = (tracemalloc.get_traced_memory()[0] - before) / 4000
    finally:
        tracemalloc.stop()
    assert used < 1024
