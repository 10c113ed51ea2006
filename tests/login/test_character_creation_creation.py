"""Reading create requests (docs/protocol/characters.md#create)."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.dialects import Dialect, Dialects, shipped_rules
from emu.errors import MalformedMessage
from emu.login.character_creation import MODEL_FIELDS, read_create_request
from emu.opcodes import shipped_tables
from emu.structs import shipped_catalog
from emu.versions import LOGIN_VERSION_STEPS
from tests.support.login.login_harness import create_request

DIALECTS = Dialects(shipped_tables, shipped_catalog(), shipped_rules())
MODEL = "ec/pc/human/human_male"
LENGTHS = {546: 319, 561: 318, 1096: 692, 1208: 692, 57080: 694, 60114: 694, 64753: 697}
"""Lengths with empty strings, from docs/protocol/characters.md#create."""


def dialect(version: int) -> Dialect:
    return DIALECTS.for_version(version)


@pytest.mark.parametrize("version", LENGTHS)
def test_the_tests_own_requests_have_the_documented_length(version: int) -> None:
    body = create_request(version, b"")
    assert len(body) - body.count(MODEL.encode()) * len(MODEL) == LENGTHS[version]


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_models_are_asked_for_by_path(version: int) -> None:
    request = read_create_request(create_request(version), dialect(version))
    assert set(request.models.values()) == {MODEL}
    models = {name for name in MODEL_FIELDS.values() if not name.startswith("soga_")}
    assert models - set(request.models) <= {"wing_type"}
    assert request.with_models({}) == request
    known = request.with_models({MODEL: 134, "another": 5}).appearance
    assert known == {"body_size": 50} | dict.fromkeys(request.models, 134)


@pytest.mark.parametrize("version", LOGIN_VERSION_STEPS)
def test_a_request_cut_anywhere_is_read_as_far_as_it_goes(version: int) -> None:
    body = create_request(version)
    for end in range(0, len(body), 7):
        with contextlib.suppress(MalformedMessage):
            read_create_request(body[:end], dialect(version))


@given(st.sampled_from(LOGIN_VERSION_STEPS), st.binary(max_size=900))
def test_any_bytes_give_a_request_or_malformed(version: int, body: bytes) -> None:
    with contextlib.suppress(MalformedMessage):
        request = read_create_request(body, dialect(version))
        assert 0 <= request.world_id <= 0xFFFFFFFF


@pytest.mark.parametrize("version", [546, 561])
def test_old_clients_may_leave_the_placeholder_out(version: int) -> None:
    usual = create_request(version)
    bare = create_request(version, placeholder=0)
    assert len(usual) - len(bare) == 26
    asked = read_create_request(bare, dialect(version))
    assert asked == read_create_request(usual, dialect(version))
    assert asked.models["legs_type"] == MODEL
