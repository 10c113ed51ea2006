"""Petitions and reports of players, and the answers of the operators.

A petition is stored before its player is sent its number. Operators in the world see a line about
each new one; its player sees the answer at once, or when its character enters the world again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.commands.registry import GUIDE, one_line
from emu.correspondence import NewPetition, Petition, PetitionKind, PetitionLimits
from emu.errors import CommandError, StoreError
from emu.processes.ports import Note, PetitionStore
from emu.world.actors.player import Player
from emu.world.events import Arrived
from emu.world.social.chat import Chat
from emu.world.world import World

OPENED: Final = "petition.opened"
"""Topic on the bus: the line that operators in the world see."""
ANSWERED: Final = "petition.answered"
"""Topic on the bus: the petitions of the character ``char_id`` have an answer."""
LONGEST: Final = 2000
"""Characters of a petition, and of an answer."""
BEGINNING: Final = 80
"""Characters of a petition in the line about it."""
MOST_OPEN: Final = 2000
"""Open petitions of a world."""
SHOWN: Final = 20
"""Petitions in a player's own list."""
LISTED: Final = 200
"""Petitions in the operators' list."""


class Petitions:
    """The petitions of one world."""

    def __init__(self, world: World, store: PetitionStore, chat: Chat) -> None:
        self._world = world
        self._store = store
        self._chat = chat
        world.processes.bus.subscribe(OPENED, self._opened)
        world.processes.bus.subscribe(ANSWERED, self._answered)
        world.events.subscribe(Arrived, self._entered)

    # -- players --------------------------------------------------------------------------------

    async def open(self, player: Player, kind: PetitionKind, text: str) -> int:
        """Store what a player writes; return its number. Raises `CommandError`, `StoreError`."""
        text = one_line(text)
        if not text:
            raise CommandError("write what you want to say to the operators")
        if len(text) > LONGEST:
            raise CommandError(f"write {LONGEST} characters at most")
        at, rules = player.position, self._world.rules
        petition = NewPetition(
            account_id=player.character.account_id,
            char_id=player.id,
            player=player.name,
            kind=kind,
            text=text,
            place=f"{player.zone.definition.name} {at.x:.1f}, {at.y:.1f}, {at.z:.1f}",
        )
        limits = PetitionLimits(
            open_of_one=rules.petitions_open, daily=rules.petitions_daily, most_open=MOST_OPEN
        )
        number = await self._store.open(petition, limits, self._world.clock.moment())
        beginning = text if len(text) <= BEGINNING else f"{text[:BEGINNING]}..."
        line = f"{kind.capitalize()} {number} of {player.name}: {beginning}"
        self._world.processes.bus.publish(OPENED, {"text": line})
        return number

    async def own(self, player: Player) -> Sequence[Petition]:
        """Return the newest petitions of a player's account. Raises `StoreError`."""
        return await self._store.of_account(player.character.account_id, SHOWN)

    async def cancel(self, player: Player, number: int) -> None:
        """Close a petition of the player's account. Raises `CommandError` and `StoreError`."""
        moment = self._world.clock.moment()
        if await self._store.cancel(player.character.account_id, number, moment) is None:
            raise CommandError(f"you have no open petition {number}")

    # -- operators ------------------------------------------------------------------------------

    async def every(self, *, is_open: bool) -> Sequence[Petition]:
        """Return the open petitions, or the closed ones. Raises `StoreError`."""
        return await self._store.every(is_open=is_open, most=LISTED)

    async def find(self, number: int) -> Petition:
        """Return a petition. Raises `CommandError` and `StoreError`."""
        found = await self._store.find(number)
        if found is None:
            raise _missing(number)
        return found

    async def answer(self, number: int, text: str, operator: str) -> Petition:
        """Answer a petition; its player sees the answer. Raises `CommandError`, `StoreError`."""
        text = one_line(text)
        if not 0 < len(text) <= LONGEST:
            raise CommandError(f"an answer has 1 to {LONGEST} characters")
        moment = self._world.clock.moment()
        petition = await self._store.answer(number, text, operator, moment)
        if petition is None:
            raise _missing(number)
        if petition.char_id:
            self._world.processes.bus.publish(ANSWERED, {"char_id": petition.char_id})
        return petition

    async def close(self, number: int, operator: str) -> Petition:
        """Close a petition. Raises `CommandError` and `StoreError`."""
        petition = await self._store.close(number, operator, self._world.clock.moment())
        if petition is None:
            raise CommandError(f"there is no open petition {number}")
        return petition

    # -- notices --------------------------------------------------------------------------------

    def _opened(self, note: Note) -> None:
        for player in self._world.players:
            if player.rank >= GUIDE and player.is_online:
                self._chat.line(player, str(note["text"]))

    def _answered(self, note: Note) -> None:
        player = self._world.players.get(int(note["char_id"] or 0))
        if player is not None and player.is_online:
            self._world.start(self._show_answers(player))

    def _entered(self, event: Arrived) -> None:
        self._world.start(self._show_answers(event.player))

    async def _show_answers(self, player: Player) -> None:
        try:
            answers = await self._store.unseen(player.id)
            # The player may have left meanwhile; then it sees them when it enters again.
            if not answers or not player.is_online:
                return
            for one in answers:
                self._chat.line(player, f"Your {one.kind} {one.id} is answered: {one.answer}")
            await self._store.seen(player.id)
        except StoreError:
            # Entering must not depend on this; the answers stay unseen.
            self._world.count("answers not shown")


def _missing(number: int) -> CommandError:
    return CommandError(f"there is no petition {number}")
