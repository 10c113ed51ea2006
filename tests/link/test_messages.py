from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import PeerError
from emu.link.batches import (
    EquipmentItem,
    LoginEquipment,
    LoginEquipmentRequest,
    ZoneItem,
    ZoneUpdates,
    ZoneUpdatesRequest,
)
from emu.link.codec import LinkFrame, LinkFrameReader
from emu.link.messages import (
    FROM_LOGIN,
    FROM_WORLD,
    BasicCharUpdate,
    BugReport,
    CharacterCreateReply,
    CharacterCreateRequest,
    CharacterPicture,
    CharTimeStamp,
    EmoteMessage,
    LSFatalError,
    LSInfo,
    LSStatus,
    NameCharUpdate,
    OpaqueMessage,
    RaceUpdate,
    UsertoWorldReq,
    UsertoWorldResp,
    ZoneUpdate,
    from_login,
    from_world,
    to_frame,
)
from tests.support.examples import tries
from tests.support.files.recordings import RECORDINGS

RECORDED = RECORDINGS / "login-link.jsonl.gz"

u8 = st.integers(0, 0xFF)
u16 = st.integers(0, 0xFFFF)
u32 = st.integers(0, 0xFFFFFFFF)
i32 = st.integers(-(2**31), 2**31 - 1)
rgb = st.tuples(u8, u8, u8)


def text(most: int, least: int = 0) -> st.SearchStrategy[str]:
    """Text of so many bytes of UTF-8."""
    letters = st.characters(min_codepoint=1, exclude_categories=["Cs"])
    texts = st.text(letters, min_size=least, max_size=most)
    return texts.filter(lambda value: len(value.encode()) <= most)


WORLD_MESSAGES = st.one_of(
    st.builds(
        LSInfo, text(200), text(249), text(30), text(255), text(24), text(63), u8, u32
    ),
    st.builds(LSStatus, i32, i32, i32, u8),
    st.builds(UsertoWorldResp, u32, u32, u32, u32, u8, text(79), u32, u32, u32),
    st.builds(CharTimeStamp, u32, u32, u32),
    st.builds(BasicCharUpdate, u32, u32, u8, u32),
    st.builds(CharacterCreateReply, u32, u32, u8),
    st.builds(NameCharUpdate, u32, u32, text(63, 1)),
    st.builds(RaceUpdate, u32, u32, u16, u8),
    st.builds(ZoneUpdate, u32, u32, u32, text(64)),
    st.builds(
        BugReport, text(63), text(63), text(63), text(63), text(127), text(300), text(31),
        text(63), u32, text(63), u32, u32,
    ),
    st.builds(
        ZoneUpdates,
        st.lists(st.builds(ZoneItem, u32, text(255), text(40)), max_size=20).map(tuple),
    ),
    st.builds(
        LoginEquipment,
        st.lists(st.builds(EquipmentItem, u32, u32, u16, rgb, rgb, u32), max_size=100).map(tuple),
    ),
    st.builds(CharacterPicture, u32, u32, st.binary(max_size=200)),
    st.builds(OpaqueMessage, st.just(0x7777), st.binary(max_size=50)),
)  # fmt: skip

LOGIN_MESSAGES = st.one_of(
    st.builds(LSFatalError, text(200)),
    st.builds(UsertoWorldReq, u32, u32, u32, u32, u32, text(20)),
    st.builds(CharTimeStamp, u32, u32, u32),
    st.builds(BasicCharUpdate, u32, u32, u8, u32),
    st.builds(CharacterCreateRequest, u16, st.binary(max_size=400)),
    st.builds(ZoneUpdatesRequest, u16),
    st.builds(LoginEquipmentRequest, u16),
    st.builds(EmoteMessage, text(63), u32, st.integers(-32768, 32767), u32, text(300)),
    st.builds(OpaqueMessage, st.just(0x7777), st.binary(max_size=50)),
)


@pytest.mark.slow
@given(WORLD_MESSAGES)
@tries(100)
def test_what_a_world_sends_round_trips(message) -> None:
    (frame,) = LinkFrameReader().receive(to_frame(message))
    assert from_world(frame) == message


@given(LOGIN_MESSAGES)
@tries(70)
def test_what_a_login_server_sends_round_trips(message) -> None:
    (frame,) = LinkFrameReader().receive(to_frame(message))
    assert from_login(frame) == message


@st.composite
def garbage(draw: st.DrawFn, opcodes: list[int]) -> LinkFrame:
    sizes = st.sampled_from([0, 2, 9, 10, 11, 12, 13, 41, 78, 109, 832, 2556]) | st.integers(0, 200)
    size = draw(sizes)
    start = draw(st.binary(min_size=min(size, 200), max_size=min(size, 200)))
    return LinkFrame(draw(st.sampled_from(opcodes)), start.ljust(size, b"\x07"))


def decodes_or_is_a_peer_error(decode, frame: LinkFrame) -> bool:
    try:
        return frame.opcode == decode(frame).OPCODE
    except PeerError as error:
        return bool(error.reason)


# Two tests: pytest-twisted cannot run a hypothesis test that is parametrized as well.
@given(garbage(sorted(FROM_WORLD)))
@tries(70)
def test_garbage_from_a_world_decodes_or_is_a_peer_error(frame: LinkFrame) -> None:
    assert decodes_or_is_a_peer_error(from_world, frame)


@given(garbage(sorted(FROM_LOGIN)))
@tries(70)
def test_garbage_from_a_login_server_decodes_or_is_a_peer_error(frame: LinkFrame) -> None:
    assert decodes_or_is_a_peer_error(from_login, frame)


def test_the_same_number_means_something_else_in_each_direction() -> None:
    reply = bytes.fromhex("650000000100000001")
    assert from_world(LinkFrame(0x2013, reply)) == CharacterCreateReply(101, 1, 1)
    assert from_login(LinkFrame(0x2013, reply)) == CharacterCreateRequest(101, reply[2:])


def test_numbers_without_a_layout_are_data() -> None:
    assert from_world(LinkFrame(0x1006, b"abc")) == OpaqueMessage(0x1006, b"abc")
    assert from_login(LinkFrame(0xFFFF, b"")) == OpaqueMessage(0xFFFF, b"")


@pytest.mark.skipif(
    not RECORDED.exists(), reason="no recorded link on this machine (EMU_RECORDINGS)"
)
def test_every_recorded_frame_is_written_again_byte_for_byte() -> None:
    decoders = {"w>l": from_world, "l>w": from_login}
    readers = {way: LinkFrameReader() for way in decoders}
    seen = 0
    with gzip.open(RECORDED, "rt") as lines:
        for row in map(json.loads, lines):
            way, raw = row["dir"], bytes.fromhex(row["hex"])
            (frame,) = readers[way].receive(raw)
            assert to_frame(decoders[way](frame)) == raw
            seen += 1
    assert seen > 500
