"""What is remembered of passwords that were right, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emu.login.passwords import VerifiedPasswords
from emu.model import Account

ALICE = Account(id=1, name="Alice", password="stored")


def test_verified_passwords_are_bounded() -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=10.0, most=2)
    accounts = [Account(id=number, name="x", password="h") for number in range(3)]
    for account in accounts:
        memory.remember(account, b"p", 0.0)
    assert len(memory) == 2
    assert [memory.check(account, b"p", 1.0) for account in accounts] == [None, True, True]
    assert not memory.check(replace(accounts[2], password="hp"), b"", 1.0)
    assert not memory.check(accounts[1], b"p", 10.0)
    assert len(memory) == 1


def test_only_this_password_of_this_stored_hash_matches() -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=10.0, most=2)
    memory.remember(ALICE, b"right", 0.0)
    assert memory.check(ALICE, b"right", 9.9)
    for account, password in (
        (ALICE, b"righ"),
        (ALICE, b"right "),
        (replace(ALICE, password="other"), b"right"),
        (replace(ALICE, password="storedr"), b"ight"),
        (replace(ALICE, id=2), b"right"),
    ):
        assert not memory.check(account, password, 9.9)


@pytest.mark.parametrize("position", [0, 15, 16, 31])
def test_every_byte_of_the_hash_counts(position: int) -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=10.0, most=2)
    memory.remember(ALICE, b"right", 0.0)
    known, expires = memory._entries[1]
    damaged = bytearray(known)
    damaged[position] ^= 1
    memory._entries[1] = (bytes(damaged), expires)
    assert not memory.check(ALICE, b"right", 1.0)


def test_the_hash_depends_on_the_key_of_the_process() -> None:
    hashes = set()
    for key in (bytes(32), bytes(31) + b"\1"):
        memory = VerifiedPasswords(key, lifetime=10.0, most=2)
        memory.remember(ALICE, b"right", 0.0)
        hashes.add(memory._entries[1][0])
    assert len(hashes) == 2
    assert all(len(one) == 32 and b"right" not in one for one in hashes)


def test_whoever_was_remembered_again_is_forgotten_later() -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=10.0, most=2)
    first, second, third = (replace(ALICE, id=number) for number in (1, 2, 3))
    for account in (first, second, first, third):
        memory.remember(account, b"right", 0.0)
    assert [memory.check(account, b"", 1.0) is None for account in (first, second, third)] == [
        False,
        True,
        False,
    ]


def test_a_lifetime_of_zero_remembers_nothing() -> None:
    memory = VerifiedPasswords(bytes(32), lifetime=0.0, most=2)
    memory.remember(ALICE, b"right", 0.0)
    assert len(memory) == 0
    assert memory.check(ALICE, b"right", 0.0) is None
