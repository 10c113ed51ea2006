"""The names and the window of pets: their commands and their message.

Source: docs/protocol/world/fights.md#pets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call
from emu.dialects.dialect import read_name
from emu.errors import CommandError, EmuError
from emu.processes.ports import WorldCharacterStore
from emu.reply_codes import CreateCode
from emu.spells.kinds import LONGEST_PET_NAME
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.actors.spawn import Spawn
from emu.world.commands.context import PlayerCommandSet
from emu.world.messages import WorldMessages
from emu.world.registration.creation import NameRules
from emu.world.social.chat import Chat
from emu.world.spells.pets import FIGHTERS, GUARDS_ITSELF, GUARDS_MASTER, Pet, Pets
from emu.world.subjects.subject import Subject
from emu.world.world import World

REFUSALS: Final = {
    CreateCode.BAD_NAME_LENGTH: f"a pet's name has 4 to {LONGEST_PET_NAME} letters",
    CreateCode.INVALID_NAME: "a pet's name has only letters from A to Z",
    CreateCode.NAME_FILTER: "this name is not allowed",
}
TAKEN: Final = "a character has this name"
NO_PET: Final = "your target is no pet of yours"
NO_WINDOW: Final = "clients of this version have no window of pets"
FIGHTS: Final = 1
"""The type of a pet that fights, in its window; 0 for others."""
WINDOW: Final = "WS_PetOptions"


class PetWindows(Subject):
    """What players choose for their pets, in one world."""

    def __init__(
        self, world: World, pets: Callable[[], Pets], chat: Chat, characters: WorldCharacterStore
    ) -> None:
        """`pets` is made after this."""
        self._world = world
        self._pets = pets
        self._chat = chat
        self._characters = characters
        self._name_rules = NameRules(world.rules.name_filter, LONGEST_PET_NAME)

    def register(self, messages: WorldMessages) -> None:
        """Add the message of the window."""
        messages.add_handler("OP_PetOptions", self._chosen, IN_ZONE)

    async def check(self, name: str) -> None:
        """Raise `CommandError` if no pet may have a name."""
        refusal = self._name_rules.reason_against(name)
        if refusal is not None:
            raise CommandError(REFUSALS[refusal])
        if await self._characters.find_named(name) is not None:
            raise CommandError(TAKEN)

    async def name_pet(self, player: Player, name: str, spawn: Spawn | None = None) -> None:
        """Give a player's pets a name, if it may have it. Raises `CommandError`."""
        if name:
            await self.check(name)
        if player.is_online:
            self._pets().name_pet(player, name, spawn)

    def _target(self, player: Player) -> Pet | None:
        """Return the pet of a player that it has targeted."""
        pet = self._pets().get(player.target) if player.target is not None else None
        return pet if pet is not None and pet.master is player.spawn else None

    def show(self, player: Player) -> None:
        """Open the window of the pet that a player has targeted. Raises `CommandError`."""
        pet = self._target(player)
        if pet is None:
            raise CommandError(NO_PET)
        shown = player.client.send(
            WINDOW,
            {
                "pet_name": pet.spawn.name[:LONGEST_PET_NAME],
                "protect_self": int(bool(pet.guards & GUARDS_ITSELF)),
                "protect_master": int(bool(pet.guards & GUARDS_MASTER)),
                "stay_follow_toggle": int(not pet.stays),
                "pet_type": FIGHTS if pet.kind in FIGHTERS else 0,
            },
        )
        if not shown:
            raise CommandError(NO_WINDOW)

    # -- what a client says -----------------------------------------------------------------------

    def _chosen(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Take what a player has chosen in the window. Raises `MalformedMessage`."""
        fields = player.client.dialect.layout(WINDOW).decode(body)
        pet = self._target(player)
        if pet is None:
            self._world.count("pet unknown")
            return
        if pet.kind in FIGHTERS:
            self._order(player, pet.spawn, fields)
        name = read_name(fields["pet_name"]).strip()
        if name and name != pet.spawn.name:
            self._world.start(self._rename(player, name, pet.spawn))

    def _order(self, player: Player, pet: Spawn, fields: Mapping[str, Any]) -> None:
        """Give orders to the pet of the window, which need not be the first of the player's."""
        pets, own = self._pets(), player.spawn
        pets.guard(own, GUARDS_ITSELF, on=fields["protect_self"] == 1, spawn=pet)
        pets.guard(own, GUARDS_MASTER, on=fields["protect_master"] == 1, spawn=pet)
        pets.stay(own, on=fields["stay_follow_toggle"] != 1, spawn=pet)

    async def _rename(self, player: Player, name: str, spawn: Spawn) -> None:
        try:
            await self.name_pet(player, name, spawn)
        except EmuError as error:
            # The store may not answer; nothing waits for this.
            self._chat.line(player, str(error), "error")


COMMANDS = PlayerCommandSet[PetWindows]()
quiet = partial(COMMANDS.for_players, is_quiet=True)


@COMMANDS.for_players("petname", "name your pet; without a name, the next one gets any",
                      Argument("name", ArgumentKind.TEXT, "4 to 31 letters", optional=True,
                               default=""),
                      aliases=("name_pet",), example="petname Pebble")  # fmt: skip
async def _petname(windows: PetWindows, player: Player, call: Call) -> None:
    await windows.name_pet(player, str(call["name"]).strip())


@quiet("petoptions", "open the window of your pet, which is your target")
async def _options(windows: PetWindows, player: Player, _call: Call) -> None:
    windows.show(player)


PetWindows.COMMANDS = COMMANDS
