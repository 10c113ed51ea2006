"""Hashes against vectors made elsewhere, and what is accepted, upgraded or refused."""

import base64
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.login import passwords
from emu.login.passwords import (
    Checked,
    PasswordConfig,
    check_password,
    eq2emulator_hash,
    hash_password,
    is_eq2emulator_hash,
    is_phc,
    password_fault,
)
from tests.support.examples import tries

CHEAP = PasswordConfig(memory_cost=64, iterations=1, lanes=1)
SALT = bytes(range(16))

REFERENCE = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
"""Test vector of the Argon2 reference implementation (its test.c): password, somesalt."""


@pytest.mark.slow
def test_the_reference_vector_verifies() -> None:
    config = PasswordConfig(memory_cost=65536, iterations=2)
    assert check_password(b"password", REFERENCE, SALT, config) == Checked(right=True)
    assert check_password(b"Password", REFERENCE, SALT, config) == Checked(right=False)


def test_a_hash_is_a_phc_string_of_its_parameters() -> None:
    stored = hash_password(b"secret", SALT, CHEAP)
    assert stored.startswith("$argon2id$v=19$m=64,t=1,p=1$AAECAwQFBgcICQoLDA0ODw$")
    assert is_phc(stored)
    assert stored != hash_password(b"secret", bytes(16), CHEAP)


def test_sha512_is_what_mysql_makes() -> None:
    # FIPS 180-2, appendix C.1: the message "abc"
    expected = (
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
    assert eq2emulator_hash(b"abc") == expected
    assert is_eq2emulator_hash(expected.upper())
    assert not is_eq2emulator_hash(expected[:-1])


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_a_right_old_hash_is_upgraded(case: object) -> None:
    stored = case(hashlib.sha512(b"secret").hexdigest())  # type: ignore[operator]
    checked = check_password(b"secret", stored, SALT, CHEAP)
    assert checked.right
    assert checked.replacement == hash_password(b"secret", SALT, CHEAP)
    assert check_password(b"wrong", stored, SALT, CHEAP) == Checked(right=False)


@pytest.mark.parametrize(
    "other",
    [
        PasswordConfig(memory_cost=32, iterations=1, lanes=1),
        PasswordConfig(memory_cost=64, iterations=2, lanes=1),
        PasswordConfig(memory_cost=64, iterations=1, lanes=2),
    ],
)
def test_a_hash_of_other_parameters_is_replaced(other: PasswordConfig) -> None:
    checked = check_password(b"secret", hash_password(b"secret", SALT, other), SALT, CHEAP)
    assert checked == Checked(right=True, replacement=hash_password(b"secret", SALT, CHEAP))


@pytest.mark.parametrize(
    "stored",
    [None, "", "secret", "$argon2id$", "$argon2id$v=19$m=64,t=1,p=1$AAAA$", "*" * 128,
     "$argon2id$v=19$m=1,t=0,p=9$AAECAwQFBgcICQoLDA0ODw$AAAA", "0" * 127, "0" * 128],
)  # fmt: skip
def test_what_is_no_hash_never_matches(stored: str | None) -> None:
    for password in (b"", b"secret", (stored or "").encode()):
        assert check_password(password, stored, SALT, CHEAP) == Checked(right=False)


class Spent:
    """Stands in for Argon2 and adds up what it costs, in KiB times passes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cost = 0
        spent = self
        real = passwords.Argon2id  # type: ignore[attr-defined]

        class Counting:
            def __init__(self, **parameters: Any) -> None:
                spent.cost += parameters["memory_cost"] * parameters["iterations"]
                self.derive_phc_encoded = real(**parameters).derive_phc_encoded

            @staticmethod
            def verify_phc_encoded(password: bytes, stored: str) -> None:
                fields = dict(part.split("=") for part in stored.split("$")[3].split(","))
                spent.cost += int(fields["m"]) * int(fields["t"])
                real.verify_phc_encoded(password, stored)

        monkeypatch.setattr(passwords, "Argon2id", Counting)


NOW = PasswordConfig(memory_cost=512, iterations=3)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "no hash",
        "0" * 128,
        hashlib.sha512(b"secret").hexdigest(),
        hash_password(b"secret", SALT, NOW),
        hash_password(b"secret", SALT, PasswordConfig(memory_cost=64, iterations=1)),
        hash_password(b"secret", SALT, PasswordConfig(memory_cost=256, iterations=2)),
        hash_password(b"secret", SALT, PasswordConfig(memory_cost=511, iterations=3)),
        hash_password(b"secret", SALT, PasswordConfig(memory_cost=1024, iterations=1)),
    ],
)
def test_a_wrong_password_costs_the_same_whatever_is_stored(
    monkeypatch: pytest.MonkeyPatch, stored: str | None
) -> None:
    spent = Spent(monkeypatch)
    assert not check_password(b"wrong", stored, SALT, NOW).right
    assert spent.cost == pytest.approx(512 * 3, rel=0.01)


@pytest.mark.parametrize("password", [b"secret", b"wrong"])
@pytest.mark.parametrize(
    "stored",
    [
        hashlib.sha512(b"secret").hexdigest(),
        hash_password(b"secret", SALT, PasswordConfig(memory_cost=64, iterations=1)),
    ],
)
def test_without_upgrades_a_right_password_costs_what_a_wrong_one_does(
    monkeypatch: pytest.MonkeyPatch, stored: str, password: bytes
) -> None:
    spent = Spent(monkeypatch)
    checked = check_password(password, stored, SALT, NOW, upgrades=False)
    assert checked == Checked(right=password == b"secret")
    assert spent.cost == pytest.approx(512 * 3, rel=0.01)


def test_hashes_of_several_lanes_are_made_up_for_as_far_as_argon2_lets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With four lanes Argon2 takes at least 32 KiB: a smaller rest is not spent."""
    config = PasswordConfig(memory_cost=128, iterations=1, lanes=4)
    spent = Spent(monkeypatch)
    for memory, cost in ((96, 128), (97, 97)):
        spent.cost = 0
        stored = f"$argon2id$v=19$m={memory},t=1,p=4$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJ"
        assert not check_password(b"wrong", stored, SALT, config).right
        assert spent.cost == cost


def test_a_right_old_password_is_hashed_anew_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = Spent(monkeypatch)
    assert check_password(b"secret", hashlib.sha512(b"secret").hexdigest(), SALT, NOW).right
    assert spent.cost == 512 * 3


@pytest.mark.parametrize("kept", [64, 127])
def test_every_digit_of_an_old_hash_counts(kept: int) -> None:
    right = eq2emulator_hash(b"secret")
    other = "".join("1" if digit == "0" else "0" for digit in right[kept:])
    for stored in (right[:kept] + other, other.rjust(128, "0"), right[64:] + right[:64]):
        assert not check_password(b"secret", stored, SALT, CHEAP).right


@pytest.mark.parametrize("position", [0, 15, 16, 31])
def test_every_byte_of_a_phc_hash_counts(position: int) -> None:
    head, _, coded = hash_password(b"secret", SALT, CHEAP).rpartition("$")
    digest = bytearray(base64.b64decode(coded + "="))
    digest[position] ^= 1
    stored = f"{head}${base64.b64encode(digest).decode().rstrip('=')}"
    assert is_phc(stored)
    assert not check_password(b"secret", stored, SALT, CHEAP).right


def test_the_default_cost_is_owasps_setting() -> None:
    assert PasswordConfig() == PasswordConfig(memory_cost=19 * 1024, iterations=2, lanes=1)


@tries(40)
@given(st.binary(max_size=255), st.binary(max_size=255))
def test_only_the_same_bytes_match(password: bytes, other: bytes) -> None:
    stored = hash_password(password, SALT, CHEAP)
    assert check_password(password, stored, SALT, CHEAP).right
    assert check_password(other, stored, SALT, CHEAP).right == (password == other)


@pytest.mark.parametrize(
    ("password", "fault"),
    [
        (b"", "must not be empty"),
        (b"seven77", "at least 8 characters"),
        ("7 pässwö".encode(), ""),
        ("ééééééé".encode(), "at least 8 characters"),
        (b"\xff" * 8, ""),
        (b"x" * 255, ""),
        (b"x" * 256, "longer than 255 bytes"),
    ],
)
def test_what_may_be_a_new_password(password: bytes, fault: str) -> None:
    found = password_fault(password, 8)
    assert fault in found
    assert bool(fault) is bool(found)
