"""The key file's text format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.keys import KeyRing, key_lines
from emu.errors import FileFormatError

CLIENT = ("10.0.0.1", 40001)


def test_the_closest_name_wins():
    ring = KeyRing()
    ring.add_text(
        "# all keys of the night\n"
        "check * 33624702\n"
        "\n"
        "check 10.0.0.1:40001 00000001   # one client\n"
        "check 5352F60F 00000002\n"
        "rc4 [2001:db8::1]:9 0807060504030201\n"
    )
    assert ring.check_key(0x5352F60F, CLIENT) == 2
    assert ring.check_key(1, CLIENT) == 1
    assert ring.check_key(None, CLIENT) == 1
    assert ring.check_key(1, ("10.0.0.9", 1)) == 0x33624702
    assert ring.rc4_key(1, CLIENT) is None
    assert ring.rc4_key(None, ("2001:db8::1", 9)) == bytes([8, 7, 6, 5, 4, 3, 2, 1])


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("rc4 *", "expected"),
        ("key * 00", "expected"),
        ("rc4 * 0807 060504030201", "expected"),
        ("rc4 * zz", "not a key in hex"),
        ("rc4 * 0807", "16 hex digits"),
        ("check * 080706050403", "8 hex digits"),
    ],
)
def test_a_bad_line_is_named(line, text):
    with pytest.raises(FileFormatError, match=text) as error:
        KeyRing().add_text("check * 33624702\n" + line, name="night.keys")
    assert error.value.place == "night.keys, line 2"


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.binary(min_size=8, max_size=8))
def test_lines_written_are_read(session_id, check_key, rc4_key):
    ring = KeyRing()
    ring.add_text(key_lines(session_id, check_key=check_key, rc4_key=rc4_key))
    assert ring.check_key(session_id, CLIENT) == check_key
    assert ring.rc4_key(session_id, CLIENT) == rc4_key


def test_the_number_of_keys_is_bounded(monkeypatch):
    monkeypatch.setattr("emu.capture.keys.MAX_KEYS", 3)
    ring = KeyRing()
    ring.add_text("".join(f"check {n:08x} 33624702\n" for n in range(3)))
    with pytest.raises(FileFormatError, match="more than 3 keys"):
        ring.add_text("check * 33624702")
