"""`StagedEngine`: the quests of files. Source: docs/guides/quests.md#files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from emu.errors import StoreError
from emu.items.held import Where
from emu.items.refusals import Refusal
from emu.ledger import Owner, OwnerKind
from emu.quests.journal import TakenQuest
from emu.quests.plans import QuestPlan, Step
from emu.quests.staged import StagedQuest
from emu.world.actors.player import Player
from emu.world.items.items import Items
from emu.world.quests.engines import NoEngine
from emu.world.quests.quests import Quests
from emu.world.social.chat import Chat


class StagedEngine(NoEngine):
    """Brings the plans of quests of files from phase to phase."""

    def __init__(self, quests: Quests, items: Items, chat: Chat) -> None:
        self._quests = quests
        self._items = items
        self._chat = chat

    def _of(self, number: int) -> StagedQuest | None:
        return self._quests.journals.content.staged.get(number)

    def _say(self, player: Player, text: str) -> None:
        if text:
            self._chat.line(player, text)

    def accepted(self, player: Player, taken: TakenQuest) -> None:
        """Say the quest's own line."""
        staged = self._of(taken.number)
        if staged is not None:
            self._say(player, staged.accepted)

    def declined(self, player: Player, plan: QuestPlan, _giver: int) -> None:
        """Say the quest's own line."""
        staged = self._of(plan.number)
        if staged is not None:
            self._say(player, staged.declined)

    def dropped(self, player: Player, taken: TakenQuest) -> None:
        """Say the quest's own line."""
        staged = self._of(taken.number)
        if staged is not None:
            self._say(player, staged.dropped)

    def done(self, player: Player, taken: TakenQuest, step: Step) -> bool:
        """Move what the step moves, and go on; the last step completes the quest."""
        staged = self._of(taken.number)
        if staged is None:
            return True
        try:
            is_moved = self._move(player, staged, step.number)
        except StoreError:
            is_moved = False
        if not is_moved:
            return False
        if staged.went_on(taken, step.number):
            self._say(player, staged.completed)
            self._quests.finish_later(player, taken.number)
        return True

    def restored(self, _player: Player, taken: TakenQuest) -> bool:
        """Rebuild the plan from the steps that are done."""
        staged = self._of(taken.number)
        return staged is not None and staged.restored(taken)

    def _move(self, player: Player, staged: StagedQuest, number: int) -> bool:
        """Take and give the things of a step; return False if that is not possible now."""
        takes, gives = staged.takes.get(number, ()), staged.gives.get(number, ())
        if not takes and not gives:
            return True
        inventory, owner = player.holdings.inventory, Owner(OwnerKind.QUEST, staged.plan.number)
        if player.holdings.gate.is_closed or not self._has(player, takes):
            return False
        kinds = [(self._items.kinds.get(item), count) for item, count in gives]
        known = [(kind, kind.given_count(count)) for kind, count in kinds if kind is not None]
        if not inventory.has_space(known):
            return False
        # First what can fail: without numbers for new things nothing is taken.
        if isinstance(self._items.make_all(player, known, owner), Refusal):
            return False
        for item, count in takes:
            self._items.take_things(player, item, count, owner)
        self._items.changed(player)
        return True

    def _has(self, player: Player, things: Iterable[tuple[int, int]]) -> bool:
        """Return whether a step can take things: those in the bags that are not in use."""
        inventory, wanted = player.holdings.inventory, Counter[int]()
        for item, count in things:
            wanted[item] += count
        return all(
            sum(
                one.count for one in inventory.of_kind(item, (Where.BAGS,))
                if one.id not in inventory.locked
            ) >= count
            for item, count in wanted.items()
        )  # fmt: skip
