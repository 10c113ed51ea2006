"""Transmuting: players turn things of value into materials.

The script of the art asks which thing, and the script of the spell that follows ends it. Clients of
EQ2Emulator are sent a list by a message whose number is not known; here a dialog asks.
Source: docs/guides/crafting.md#transmuting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from emu.items.held import Thing, Where
from emu.items.inventory import Inventory
from emu.items.kinds import Flag, ItemKind, MoreFlag
from emu.items.refusals import Refusal
from emu.ledger import Outcome, Owner, OwnerKind, Reason
from emu.rules.transmuting import materials, may_teach, needed_skill
from emu.world.actors.client import send_text
from emu.world.actors.player import Player, refuses_dead
from emu.world.conversations import Conversations, DialogPage, Shown
from emu.world.crafting.giving import RED, Crafts, SkillUse, begin
from emu.world.events import DialogAnswered, LeftWorld
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.texts import link

SKILL: Final = "Transmuting"
SPELL: Final = 5163
"""The spell "Transmute Item", whose script ends what was begun."""
LEAST_TIER: Final = 5
MOST_CHOICES: Final = 20
"""Things of which a player chooses one."""
STATUS: Final = 89
_KEPT: Final = Flag.NO_ZONE | Flag.NO_VALUE | Flag.TEMPORARY | Flag.NO_DESTROY | Flag.NO_TRANSMUTE
CHOOSE: Final = "Which thing do you want to transmute?"
SURE: Final = "Are you sure you want to transmute the {name}?"
NOTHING: Final = "You have nothing that can be transmuted."
GONE: Final = "Could not find the item. Please try again."
UNSKILLED: Final = (
    "You need at least {needed} Transmuting skill to transmute the {name}."
    " You have {skill} Transmuting skill."
)
NO_MATERIAL: Final = "Nothing can be made of this."
NO_PLACE: Final = "You do not have enough free slots!  Free some slots and try again."
DONE: Final = "You transmute {link} and create: "
MADE: Final = "     {link}"


@dataclass(slots=True, eq=False)
class TransmuteTalk:
    """The dialog of one player about a thing to transmute."""

    player: Player


class _Confirmed(NamedTuple):
    """The answer with which a player agrees."""

    thing_id: int


class TransmutePorts(NamedTuple):
    """What transmuting needs of other components, which are made later."""

    dialogs: Callable[[], Conversations]
    """Returns the dialogs of the world."""
    cast: Callable[[Player, int], bool]
    """Lets a player cast a spell upon itself; returns False if there is no such spell."""


class Transmuting:
    """The transmuting of one world's players."""

    def __init__(
        self, items: Items, crafts: Crafts, skills: SkillUse, ports: TransmutePorts,
        roll: Callable[[int], int],
    ) -> None:  # fmt: skip
        """`roll` returns a number below its argument."""
        self._items = items
        self._crafts = crafts
        self._skills = skills
        self._ports = ports
        self._roll = roll
        self._chosen: dict[int, int] = {}
        """The thing that a player transmutes now, by character."""
        events = items.world.events
        events.subscribe(DialogAnswered, self._answered)
        events.subscribe(LeftWorld, lambda event: self._chosen.pop(event.player.id, None))

    def start(self, player: Player) -> None:
        """Ask a player which thing to transmute."""
        inventory = player.holdings.inventory
        found = [
            (kind.name, one.id) for one in inventory.in_list(Where.BAGS)
            if is_transmutable(kind := inventory.kind(one), one) and _is_free(inventory, one)
        ][:MOST_CHOICES]  # fmt: skip
        if not found:
            send_text(player.client, NOTHING, RED)
            return
        self._open(player, CHOOSE, [*found, ("Cancel", None)])

    def _open(self, player: Player, text: str, answers: list[tuple[str, object]]) -> None:
        page = DialogPage(text=text, speaker=Shown.NOBODY)
        self._ports.dialogs().open(player, player.spawn, page, answers, owner=TransmuteTalk(player))

    def _answered(self, event: DialogAnswered) -> None:
        player, owner, reply = event.player, event.owner, event.reply
        if not isinstance(owner, TransmuteTalk) or owner.player is not player:
            return
        self._ports.dialogs().close(player, owner)
        if isinstance(reply, _Confirmed):
            self._begin(player, reply.thing_id)
        elif isinstance(reply, int):
            self._ask(player, reply)

    def _thing(self, player: Player, number: int) -> tuple[Thing, ItemKind] | None:
        """Return a thing that a player may transmute; the player reads it if not."""
        inventory = player.holdings.inventory
        thing = inventory.get(number)
        kind = inventory.kind(thing) if thing is not None else None
        if (
            thing is None
            or kind is None
            or not is_transmutable(kind, thing)
            or not _is_free(inventory, thing)
        ):
            send_text(player.client, GONE, RED)
            return None
        needed, skill = needed_skill(kind.level), self._skills.value(player, SKILL)
        if skill < needed:
            text = UNSKILLED.format(needed=needed, name=kind.name, skill=skill)
            send_text(player.client, text, RED)
            return None
        return thing, kind

    def _ask(self, player: Player, number: int) -> None:
        found = self._thing(player, number)
        if found is not None:
            text = SURE.format(name=found[1].name)
            self._open(player, text, [("OK", _Confirmed(number)), ("Cancel", None)])

    def _begin(self, player: Player, number: int) -> None:
        if refuses_dead(player) or self._thing(player, number) is None:
            return
        self._chosen[player.id] = number
        if not self._ports.cast(player, SPELL):
            self.complete(player)

    def complete(self, player: Player) -> None:
        """Turn the thing that a player has chosen into materials."""
        number = self._chosen.pop(player.id, 0)
        if number:
            begin(self._items.world, player, lambda: self._complete(player, number))

    def _made_of(self, kind: ItemKind) -> list[ItemKind]:
        """Return what a thing of a kind gives; nothing if the content does not say all of it."""
        numbers = materials(self._crafts.transmuting(), kind.level, kind.tier, self._roll)
        found = [self._items.kinds.get(one) for one in numbers]
        kinds = [one for one in found if one is not None]
        return kinds if len(kinds) == len(numbers) else []

    async def _complete(self, player: Player, number: int) -> None:
        found = self._thing(player, number)
        if found is None:
            return
        kinds = self._made_of(found[1])
        if not kinds:
            send_text(player.client, NO_MATERIAL, RED)
            return
        refused: list[Refusal] = []
        act = partial(self._exchange, player, number, kinds, refused)
        outcome = await self._items.exchange(Reason.CRAFTED, [player], act)
        if outcome is Outcome.DONE:
            self._items.changed(player)
            self._has_made(player, found[1], kinds)
        for one in refused:
            self._items.refuse(player, one)
        if outcome is not Outcome.DONE and not refused:
            send_text(player.client, NO_PLACE, RED)

    def _exchange(
        self, player: Player, number: int, kinds: list[ItemKind], refused: list[Refusal]
    ) -> Act | None:  # fmt: skip
        inventory = player.holdings.inventory
        thing = inventory.get(number)
        if thing is None or not _is_free(inventory, thing):
            return None  # moved, filled or offered while the act waited for its turn
        if not inventory.has_space([(kind, 1) for kind in kinds]):
            return None
        refused += [one for kind in kinds if (one := inventory.refuses(kind)) is not None]
        if refused:
            return None
        mine, art = Owner.character(player.id), Owner(OwnerKind.SCRIPT)
        inventory.use_up(thing, thing.count)
        parts = [things(mine, art, thing.item_id, thing.count)]
        for kind in kinds:
            count = kind.beginning_count()
            inventory.add_things(kind, count, self._items.new_number)
            parts.append(things(art, mine, kind.id, count))
        return Act(parts)

    def _has_made(self, player: Player, old: ItemKind, kinds: list[ItemKind]) -> None:
        version = player.client.version
        send_text(player.client, DONE.format(link=link(old, version)), STATUS)
        for kind in kinds:
            send_text(player.client, MADE.format(link=link(kind, version)), STATUS)
        if may_teach(old.level, self._skills.value(player, SKILL)):
            self._skills.use(player, SKILL)


def is_transmutable(kind: ItemKind, thing: Thing) -> bool:
    """Return whether a thing can be transmuted: of a level, of value, and one alone."""
    return (
        kind.level > 0
        and kind.tier >= LEAST_TIER
        and not kind.flags & _KEPT
        and MoreFlag.ORNATE not in kind.more_flags
        and thing.count <= 1
    )


def _is_free(inventory: Inventory, thing: Thing) -> bool:
    """Return whether a thing lies in the bags, holds nothing, and is not in use."""
    return (
        thing.place.where is Where.BAGS
        and thing.id not in inventory.locked
        and not inventory.inside(thing)
    )
