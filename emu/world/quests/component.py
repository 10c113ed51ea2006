"""`QuestParts`: the components of quests in one world, made and connected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from emu.content.standing import Standing
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn
from emu.world.conversations import Conversations
from emu.world.events import Died, LeftWorld, LeftZone
from emu.world.items.items import Items
from emu.world.quests.counting import QuestCounting
from emu.world.quests.feathers import Feathers
from emu.world.quests.givers import Givers
from emu.world.quests.journals import Journals, QuestContent
from emu.world.quests.quests import Quests
from emu.world.quests.rewards import QuestRewards
from emu.world.quests.staged import StagedEngine
from emu.world.social.chat import Chat
from emu.world.zones.zone import Zone

SHARE_REACH: Final = 100.0
"""Units within which members of a group can share a quest."""


class QuestParts:
    """Journals, rewards, steps, marks and givers of the quests of one world."""

    def __init__(
        self, items: Items, chat: Chat, content: QuestContent, conversations: Conversations, *,
        roll: Callable[[int], int], give_experience: Callable[[Player, int], object],
        give_trade: Callable[[Player, int], object],
        sharers: Callable[[Died], list[Player]], race_of: Callable[[Spawn], int],
    ) -> None:  # fmt: skip
        """`roll` returns a number below its argument.

        `give_experience` also says so; `give_trade` gives tradeskill experience.
        `sharers` are the players for whom a death counts, `race_of` returns the race of a spawn.
        """
        world = items.world
        self.journals = Journals(world, items.kinds, content)
        self.rewards = QuestRewards(
            self.journals, items, chat, roll=roll, give_experience=give_experience,
            give_trade=give_trade,
        )  # fmt: skip
        self.quests = Quests(world, self.journals, self.rewards, self._standing)
        self.counting = QuestCounting(
            self.quests, roll=roll, sharers=sharers, race_of=race_of,
            number_of=lambda spawn: spawn.look.dealing.number, near=self.near,
        )  # fmt: skip
        self.feathers = Feathers(self.quests, self.counting.victims)
        self.journals.add_engine(StagedEngine(self.quests, items, chat), has_scripts=False)
        self.givers = Givers(self.quests, self.feathers, conversations)
        world.events.subscribe(LeftZone, lambda event: self.rewards.left(event.player))
        world.events.subscribe(LeftWorld, lambda event: self.rewards.left(event.player))

    def _standing(self, player: Player, faction: int) -> int:
        row = self.journals.content.faction(faction)
        return player.past.standing(faction, int(row["default"]) if row is not None else 0)

    def has_or_had(self, player: Player, number: int) -> bool:
        """Return whether a player has a quest, or has completed it."""
        journal = self.journals.of(player)
        return number in journal.open or number in journal.completed

    def vanished(self, zone: Zone, spawn: Spawn) -> None:
        """Forget a spawn that has left its zone."""
        self.feathers.vanished(zone, spawn)
        self.givers.vanished(spawn)

    def appeared(self, zone: Zone, spawn: Spawn, _standing: Standing) -> None:
        """Let a spawn give the quests of files that name it."""
        self.givers.appeared(zone, spawn)

    def ended(self, zone: Zone) -> None:
        """Forget a zone that ends."""
        self.feathers.ended(zone)

    def near(self, player: Player) -> list[Player]:
        """Return the members of a player's group who are near."""
        world = self.quests.world
        group = world.groups.table.of(player.id)
        found = (world.players.get(one) for one in (group.members if group is not None else ()))
        return [
            one for one in found
            if one is not None and one is not player and one.zone is player.zone
            and one.position.distance_to(player.position) <= SHARE_REACH
        ]  # fmt: skip
