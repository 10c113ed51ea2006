from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import StoreAway, StoreError
from emu.link.messages import CharacterCreateReply
from emu.model import Color, WorldCharacter
from emu.reply_codes import CreateCode
from emu.structs import StructCatalog, shipped_catalog
from emu.world.registration.creation import MOST_UNKNOWN, CharacterCreation, NameRules
from emu.world.rules import CreationRules
from emu.world.zones.definitions import Start
from tests.support.examples import tries
from tests.support.files.struct_texts import catalog_of, struct_of
from tests.support.login.create_requests import request_546, request_1096
from tests.support.login.directory_fakes import Loop
from tests.support.times import APART, ManualClock
from tests.support.world.world_fakes import CharactersInMemory, world_character

NOW = 1_700_000_000.0
MOMENT = NOW + APART


class Bench:
    def __init__(self, *rows: WorldCharacter, **rules) -> None:
        self.store = CharactersInMemory(*rows)
        self.catalog = shipped_catalog()
        self.rules = CreationRules(**rules)
        self.clock = ManualClock(NOW)

    def creation(self) -> CharacterCreation:
        return CharacterCreation(
            self.rules,
            NameRules(["grief"]),
            self.store,
            self.catalog,
            lambda wanted: Start(100 + wanted.starting_zone),
            self.clock,
        )

    def create(
        self,
        version: int,
        body: bytes,
        *,
        locked: bool = False,
        by: CharacterCreation | None = None,
    ) -> CharacterCreateReply:
        creation = by or self.creation()
        replies: list[CharacterCreateReply] = []

        async def run() -> None:
            replies.append(await creation.create(version, body, locked=locked))

        Loop().spawn(run())
        return replies[0]

    def made(self) -> WorldCharacter:
        (row,) = self.store.rows.values()
        return row


def test_a_character_of_the_2006_client_is_a_commoner_with_signed_colors() -> None:
    bench = Bench()
    assert bench.create(546, request_546()) == CharacterCreateReply(101, 1, 1)
    row = bench.made()
    assert (row.name, row.account_id, row.race, row.gender, row.deity) == ("Aldana", 101, 9, 1, 2)
    assert (row.class_, row.level, row.starting_zone, row.zone_id) == (0, 1, 4, 104)
    assert (row.client_version, row.created) == (546, MOMENT)
    assert row.colors["skin_color"] == Color(125, 125, 125, signed=True)
    assert row.colors["eye_color"] == Color(-6, -6, -6, signed=True)
    assert row.colors["nose"] == Color(10, 10, 10, signed=True)
    assert row.appearance == {
        "race_file": "ec/pc/human/human_male", "hair_file": "hair", "face_file": "face",
        "chest_file": "chest", "legs_file": "legs", "body_size": 25, "body_age": 0,
    }  # fmt: skip


def test_the_bare_request_of_the_real_client_gives_the_same_character() -> None:
    usual, bare = Bench(), Bench()
    usual.create(546, request_546())
    assert bare.create(546, request_546(placeholder=False)) == CharacterCreateReply(101, 1, 1)
    assert bare.made() == usual.made()


def test_561_keeps_its_class_and_has_one_byte_less() -> None:
    bench = Bench()
    assert bench.create(561, request_546(extra=False)).response == 1
    assert (bench.made().class_, bench.made().name) == (3, "Aldana")
    assert bench.made().colors["eye_color"].signed


def test_forcing_commoners_is_a_setting() -> None:
    bench = Bench(commoner_up_to=0)
    bench.create(546, request_546())
    assert bench.made().class_ == 3


@pytest.mark.parametrize("version", [1096, 1208])
def test_newer_clients_have_unsigned_colors_and_a_second_look(version: int) -> None:
    bench = Bench()
    assert bench.create(version, request_1096()).response == 1
    row = bench.made()
    assert row.class_ == 3
    assert row.colors["skin_color"] == Color(127, 127, 127)
    assert row.colors["eye_color"] == Color(255, 255, 255)
    assert row.colors["soga_nose"] == Color(10, 10, 10, signed=True)
    assert row.appearance["soga_race_file"] == "soga"
    assert row.appearance["soga_body_size"] == 25


@pytest.mark.parametrize(
    ("name", "code"), [(b"Abc", 10), (b"A" * 16, 10), (b"Ald4na", 11), (b"Griefer", 12)]
)
def test_names_are_refused_with_their_codes(name: bytes, code: int) -> None:
    bench = Bench()
    assert bench.create(546, request_546(name)) == CharacterCreateReply(101, 0, code)
    assert bench.store.rows == {}


@pytest.mark.parametrize("deleted", [False, True])
def test_a_name_that_was_ever_taken_stays_taken(deleted: bool) -> None:
    bench = Bench(world_character(1, 55, name="ALDANA", deleted=deleted))
    assert bench.create(546, request_546()) == CharacterCreateReply(101, 0, 13)


def test_an_account_makes_only_so_many_in_an_hour_and_taken_names_do_not_count() -> None:
    bench = Bench(world_character(1, 55, name="TAKEN"), creations_per_hour=2)
    creation = bench.creation()
    names = (b"Taken", b"Aldana", b"Taken", b"Borvik", b"Celeste")
    codes = [bench.create(546, request_546(name), by=creation).response for name in names]
    assert codes == [13, 1, 13, 1, 14]
    bench.clock.seconds = NOW + 1801
    later = bench.create(546, request_546(b"Celeste"), by=creation)
    assert later.response == 1


def test_the_limit_counts_the_time_after_the_store_has_answered() -> None:
    bench = Bench(creations_per_hour=1)
    creation = bench.creation()
    assert bench.create(546, request_546(), by=creation).response == 1
    read = bench.store.of_account

    async def slow(account_id: int) -> Sequence[WorldCharacter]:
        bench.clock.seconds += 3601
        return await read(account_id)

    bench.store.of_account = slow
    assert bench.create(546, request_546(b"Borvik"), by=creation).response == 1


def test_a_locked_world_makes_nobody() -> None:
    assert Bench().create(546, request_546(), locked=True) == CharacterCreateReply(101, 0, 2)


def test_a_banned_account_makes_nobody() -> None:
    assert Bench(world_character(1, admin_status=-2)).create(546, request_546()).response == 15
    assert Bench(world_character(1, admin_status=-1)).create(546, request_546()).response == 1


def test_an_account_makes_no_more_than_its_limit() -> None:
    rows = [world_character(number) for number in range(1, 4)]
    assert Bench(*rows, max_characters=3).create(546, request_546()).response == 4
    assert Bench(*rows, max_characters=4).create(546, request_546()).response == 1


def test_a_broken_store_is_an_unknown_error() -> None:
    bench = Bench()
    bench.store.broken = True
    assert bench.create(546, request_546()) == CharacterCreateReply(101, 0, 0)


class Full(CharactersInMemory):
    """A store that reads and cannot write."""

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        raise StoreError("the disk is full")


def test_a_character_that_is_not_stored_does_not_count() -> None:
    bench = Bench(creations_per_hour=1)
    bench.store = Full()
    creation = bench.creation()
    assert bench.create(546, request_546(), by=creation).response == CreateCode.UNKNOWN_ERROR
    creation.store = CharactersInMemory()
    assert bench.create(546, request_546(), by=creation).response == CreateCode.SUCCESS


class Forgetful(CharactersInMemory):
    """A store whose answer to the first creation is lost."""

    is_lost = True

    async def create(self, character: WorldCharacter) -> WorldCharacter:
        made = await super().create(character)
        if self.is_lost:
            self.is_lost = False
            raise StoreAway("the connection was lost")
        return made


def test_a_creation_whose_answer_was_lost_succeeds_when_it_is_repeated() -> None:
    bench = Bench(max_characters=1)
    bench.store = Forgetful()
    creation = bench.creation()
    lost = bench.create(546, request_546(), by=creation)
    assert lost == CharacterCreateReply(101, 0, CreateCode.UNKNOWN_ERROR)
    made = bench.made()
    bench.clock.seconds += 10.0
    again = CharacterCreateReply(101, made.id, CreateCode.SUCCESS)
    assert bench.create(546, request_546(), by=creation) == again
    assert bench.made() == made
    full = CharacterCreateReply(101, 0, CreateCode.MAX_CHARACTERS)
    assert bench.create(546, request_546(), by=creation) == full


@pytest.mark.parametrize(
    ("seconds", "body"),
    [
        (301.0, request_546()),
        (10.0, request_546(account=8)),
        (10.0, request_546().replace(b"hair", b"wigs")),
    ],
    ids=["long after", "other account", "other character"],
)
def test_only_the_same_request_soon_after_is_a_repetition(seconds: float, body: bytes) -> None:
    bench = Bench()
    bench.store = Forgetful()
    creation = bench.creation()
    bench.create(546, request_546(), by=creation)
    bench.clock.seconds += seconds
    assert bench.create(546, body, by=creation).response == CreateCode.NAME_TAKEN


@pytest.mark.slow
def test_requests_without_an_outcome_are_bounded() -> None:
    bench = Bench()
    creation = bench.creation()
    for number in range(MOST_UNKNOWN + 10):
        bench.store = creation.store = Forgetful()
        bench.create(546, request_546(account=1 + number), by=creation)
    assert len(creation._unknown) == MOST_UNKNOWN


def test_a_version_without_a_layout_cannot_be_read() -> None:
    bench = Bench()
    bench.catalog = StructCatalog()
    assert bench.create(546, request_546()) == CharacterCreateReply(0, 0, 0)


@given(st.sampled_from([0, 1, 373, 546, 561, 562, 1096, 60114, 64753, 65535]), st.binary())
@tries(60)
def test_no_bytes_of_a_client_raise(version: int, body: bytes) -> None:
    reply = Bench().create(version, body)
    assert 0 <= reply.response <= 13


def test_a_request_cut_short_anywhere_makes_a_plain_character_or_none() -> None:
    body = request_546()
    for size in range(0, len(body), 7):
        reply = Bench().create(546, body[:size])
        assert reply.response in {1, 10}


CHOICES = "account_id int32, name EQ2_16Bit_String, race int8, class int8, gender int8"
CHOICES += ", deity int8, starting_zone int8"


@pytest.mark.parametrize(
    ("race", "class_", "gender", "code"),
    [
        (20, 44, 1, 1), (0, 0, 2, 1), (21, 3, 1, 5), (255, 255, 255, 5), (9, 45, 1, 7),
        (9, 255, 1, 7), (9, 3, 3, 8), (9, 3, 255, 8),
    ],
)  # fmt: skip
def test_what_no_client_offers_is_refused(race: int, class_: int, gender: int, code: int) -> None:
    """Source of the codes: docs/protocol/characters.md#create-reply."""
    bench = Bench()
    bench.catalog = catalog_of(struct_of(CHOICES, "CreateCharacter"))
    body = struct.pack("<IH6s5B", 101, 6, b"Aldana", race, class_, gender, 3, 4)
    assert bench.create(1096, body).response == code
    assert len(bench.store.rows) == (code == 1)


def test_colors_of_eq2emulator_s_struct_files_are_floats_in_a_request() -> None:
    """Its files type them EQ2_Color, which is three floats here and three bytes elsewhere."""
    names = "race", "class", "gender", "deity", "starting_zone"
    fields = ", ".join(f"{name} int8" for name in names)
    fields = f"account_id int32, name EQ2_16Bit_String, {fields}, skin_color EQ2_Color"
    bench = Bench()
    bench.catalog = catalog_of(struct_of(fields, "CreateCharacter"))
    body = struct.pack("<IH6s5B3f", 101, 6, b"Aldana", 9, 1, 2, 3, 4, 1.0, 0.5, 0.0)
    assert bench.create(1096, body).response == 1
    assert bench.made().colors["skin_color"] == Color(255, 127, 0)
