from __future__ import annotations

import pytest

from emu.link.settings import hash_link_password, is_link_hash, link_password_matches

HASH = hash_link_password("abc")


def test_the_hash_is_lower_case_sha_512() -> None:
    # FIPS 180-4's example for "abc"
    assert HASH.startswith("ddaf35a193617abacc417349ae204131")
    assert len(HASH) == 128
    assert is_link_hash(HASH.upper())


@pytest.mark.parametrize("sent", [HASH, HASH.upper()])
@pytest.mark.parametrize("stored", [HASH, HASH.upper()])
def test_case_does_not_count(stored: str, sent: str) -> None:
    assert link_password_matches(stored, sent)


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        ("", ""),
        ("", HASH),
        (HASH, ""),
        (HASH[:29], HASH),
        (HASH[:29], HASH[:29]),
        (HASH, HASH[:127] + ("0" if HASH[-1] != "0" else "1")),
        (HASH, HASH + "0"),
        (HASH, "\u0130" * 128),
        ("x" * 128, "x" * 128),
        ("abc", "abc"),
    ],
)
def test_empty_shortened_and_other_values_never_match(stored: str, sent: str) -> None:
    assert not link_password_matches(stored, sent)
