"""The names that players give to their pets, and the window of a pet.

The layout of the window is that of EQ2Emulator's structs. `petname` without an answer was recorded
(`fight-546-pet-a`, mark "name the pet").
"""

from __future__ import annotations

import struct

import pytest

from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.rules import WorldRules
from emu.world.spells.pets import PetKind
from emu.world.subjects.pet_windows import NO_PET, NO_WINDOW, REFUSALS, TAKEN
from tests.support.world.worlds import WorldHarness


class Master:
    """A player with a pet."""

    def __init__(self, version: int = 1208, kind: PetKind = PetKind.COMBAT) -> None:
        rules = WorldRules(name="TestLabs", name_filter=("grief",))
        self.harness = WorldHarness(rules=rules)
        self.client = self.harness.stand(5, version, name="Aldana")
        assert self.client.player is not None
        self.player = self.client.player
        self.pets = self.harness.parts.spells.pets
        self.pet = self.creature("an imp")
        self.pets.take_pet(self.player.zone, self.player.spawn, self.pet, kind, None)

    def creature(self, name: str) -> Spawn:
        number = self.harness.world.zones.next_spawn_id()
        spawn = Spawn(number, SpawnKind.NPC, name, self.player.position)
        self.player.zone.add_spawn(spawn, self.harness.now)
        self.harness.run(0.3)
        return spawn

    def sheet(self, name: str) -> object:
        return self.harness.parts.sheets.fields(self.player)[name]

    def choose(self, name: str, *, itself: int = 1, master: int = 1, follows: int = 1) -> None:
        """Close the window with some choices."""
        text = name.encode()
        body = struct.pack("<HH", 0, len(text)) + text
        body += bytes((0, itself, master, follows, 1, 0, 0)) + bytes(4)
        self.client.say("OP_PetOptions", body)


def test_a_pet_is_named_at_once_and_for_good() -> None:
    one = Master(546)
    assert one.client.types("petname Pebble") == []
    assert one.pet.name == one.sheet("pet_name") == one.player.past.pet_name == "Pebble"
    one.pets.dismiss(one.pet)
    other = one.creature("a bat")
    one.pets.take_pet(one.player.zone, one.player.spawn, other, PetKind.COMBAT, None)
    assert other.name == "Pebble"
    assert one.client.types("name_pet") == []
    assert one.player.past.pet_name == ""


def test_others_see_the_name() -> None:
    one = Master(546)
    friend = one.harness.stand(6, 546, name="Borvik")
    one.client.types("petname Pebble")
    one.harness.run(0.5)
    assert friend.player is not None
    index = friend.player.index_of(one.pet)
    assert index is not None
    assert friend.view.fields(index)["name"] == "Pebble"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Pip", "a pet's name has 4 to 31 letters"), ("x" * 32, "a pet's name has 4 to 31 letters"),
        ("Peb ble", "a pet's name has only letters from A to Z"),
        ("Griefer", "this name is not allowed"), ("Aldana", TAKEN),
    ],
)  # fmt: skip
def test_some_names_are_refused(name: str, line: str) -> None:
    one = Master()
    assert one.client.types(f"petname {name}") == [line]
    assert line in (*REFUSALS.values(), TAKEN)
    assert (one.pet.name, one.player.past.pet_name) == ("an imp", "")
    one.choose(name)
    assert one.pet.name == "an imp"
    assert one.client.decoded("WS_DisplayText")[-1]["text"] == line


def test_the_window_of_a_charmed_creature_is_not_that_of_the_first_pet() -> None:
    one = Master()
    wolf = one.creature("a wolf")
    one.pets.take_pet(one.player.zone, one.player.spawn, wolf, PetKind.CHARMED, None)
    one.player.set_target(wolf)
    one.choose("", itself=0, master=1, follows=0)
    charmed, first = one.pets.get(wolf), one.pets.get(one.pet)
    assert charmed is not None
    assert first is not None
    assert (charmed.guards, charmed.stays) == (1, True)
    assert (first.guards, first.stays) == (3, False)


@pytest.mark.parametrize("version", [1096, 1208, 60114])
def test_the_window_shows_the_pet(version: int) -> None:
    one = Master(version)
    assert one.client.types("petoptions") == [NO_PET]
    one.player.set_target(one.pet)
    assert one.client.types("petoptions") == []
    [body] = [data for name, data in one.client.log if name == "OP_PetOptions"]
    assert body == bytes.fromhex("0000 0600") + b"an imp" + bytes.fromhex(
        "00 01 01 01 01 00 00 00000000"
    )
    one.client.types("pet stay")
    one.client.types("pet guardme")
    one.client.types("petoptions")
    body = [data for name, data in one.client.log if name == "OP_PetOptions"][-1]
    assert body[10:15] == bytes.fromhex("00 01 00 00 01")


def test_the_choices_of_the_window_are_taken() -> None:
    one = Master()
    one.player.set_target(one.pet)
    one.choose("Pebble", itself=0, follows=0)
    assert (one.pet.name, one.player.past.pet_name) == ("Pebble", "Pebble")
    assert (one.sheet("pet_behavior"), one.sheet("pet_movement")) == (1, 1)
    one.choose("", master=0)
    assert (one.pet.name, one.sheet("pet_behavior"), one.sheet("pet_movement")) == ("Pebble", 2, 2)


def test_nobody_names_the_pet_of_another() -> None:
    one = Master()
    friend = one.harness.stand(6, 1208, name="Borvik")
    assert friend.player is not None
    friend.player.set_target(one.pet)
    assert friend.types("petoptions") == [NO_PET]
    one.client, mine = friend, one.client
    one.choose("Pebble")
    assert one.pet.name == "an imp"
    assert one.harness.world.faults.drops["pet unknown"] == 1
    mine.say("OP_PetOptions", b"\1")
    assert sum(one.player.client.drops.values()) == 1


def test_a_companion_has_the_window_without_orders() -> None:
    one = Master(kind=PetKind.COSMETIC)
    one.player.set_target(one.pet)
    one.client.types("petoptions")
    [fields] = one.client.decoded("WS_PetOptions")
    assert fields["pet_type"] == 0
    one.choose("Pebble", follows=0)
    assert one.pet.name == "Pebble"
    pet = one.pets.get(one.pet)
    assert pet is not None
    assert not pet.stays


def test_older_clients_have_no_window() -> None:
    one = Master(546)
    one.player.set_target(one.pet)
    assert one.client.types("petoptions") == [NO_WINDOW]
