"""`QuestRewards`: what completed quests give, and the windows in which players take it.

Experience and coins come at once, things, factions and status with the player's answer. A window
waits until the one before is answered; all wait in the journal, and come again after a login.

Nothing is given twice: each reward moves under an identity of its own, which follows from the
character, the quest and how often it was completed. Before things move, the journal says so and is
stored; after a crash the ledger is asked whether they moved. Experience, factions and status are
stored together with the journal, which says what is still to give.
Source: docs/guides/quests.md#rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from emu.content.rows import Row
from emu.errors import CommandError, StoreError
from emu.items.held import Thing
from emu.items.kinds import ItemKind
from emu.items.refusals import Refusal
from emu.ledger import Outcome, Owner, OwnerKind, Part, Reason
from emu.model import SavedKind
from emu.quests.journal import MOST_PENDING, PendingReward, TakenQuest
from emu.quests.plans import QuestReward
from emu.rules.coins import coins_text
from emu.world.actors.client import send_text
from emu.world.actors.player import Player, PlayerState
from emu.world.combat.standings import change_standing
from emu.world.items.exchanges import Act, things
from emu.world.items.items import Items
from emu.world.items.texts import RED, own_color
from emu.world.quests.journals import Journals, sees
from emu.world.quests.windows import JournalRow, PopUp, color, pending_fields
from emu.world.social.chat import Chat

SOUND: Final = "coin_cha_ching"
COINS: Final = "You receive {coins} for completing {title}"
COINS_COLOR: Final = 75
NO_PLACE: Final = "You do not have enough free slots!  Free some slots and try again."
LATER: Final = "the reward could not be stored; try again"
MOST_MADE: Final = 1000
MOMENTS: Final = 1000
"""Moments of one second at which a quest can be taken."""


class QuestRewards:
    """The rewards of the players of one world."""

    def __init__(
        self, journals: Journals, items: Items, chat: Chat, *,
        roll: Callable[[int], int], give_experience: Callable[[Player, int], object],
        give_trade: Callable[[Player, int], object],
    ) -> None:  # fmt: skip
        """`roll` returns a number below its argument.

        `give_experience` also says so; `give_trade` gives tradeskill experience.
        """
        self._journals = journals
        self._items = items
        self._world = items.world
        self._chat = chat
        self._roll = roll
        self._give_experience = give_experience
        self._give_trade = give_trade
        self._shown: dict[int, str] = {}
        """The key of the reward whose window a character has open."""
        self._answered: dict[int, PendingReward] = {}
        """The reward of a character whose answer is being stored."""

    # -- completed ------------------------------------------------------------------------------

    async def give(self, player: Player, taken: TakenQuest, times: int) -> None:
        """Give what a quest gives that was completed now, and open the window for the rest."""
        plan = taken.plan
        assert plan is not None  # noqa: S101  # the caller has completed it
        journal, reward = self._journals.of(player), plan.reward
        pending = PendingReward(
            plan.number, str(times), plan.title, plan.description,
            replace(reward, coins=self._coins(reward)),
            level=plan.level, difficulty=color(player, plan.level),
        )  # fmt: skip
        last = taken.last_step
        journal.pending.append(pending)
        await self._move_coins(player, pending)
        if player.state is PlayerState.GONE:
            return  # given at the next login
        self._show_next(player)
        entry = JournalRow(taken, plan, is_turned_in=True)
        if sees(player):
            self._journals.send_row(player, entry, is_shown=False)
        self._give_points(player, pending)
        self._say_coins(player, pending)
        if sees(player):
            self._journals.send_quest(player, entry, PopUp(last))
            self._journals.send_list(player)
        self._settle_empty(player, pending)

    def _give_points(self, player: Player, one: PendingReward) -> None:
        """Give the experience of a reward once: the journal forgets it in the same turn."""
        given = one.reward
        if not given.experience and not given.trade_experience:
            return
        one.reward = replace(given, experience=0, trade_experience=0)
        self._journals.changed(player)
        if given.experience:
            self._give_experience(player, given.experience)
        if given.trade_experience:
            self._give_trade(player, given.trade_experience)

    def _coins(self, reward: QuestReward) -> int:
        """Return the coins of a reward: between the least and the most, rolled once."""
        if reward.most_coins > reward.coins:
            return reward.coins + self._roll(reward.most_coins - reward.coins + 1)
        return reward.coins

    def _request(self, player: Player, one: PendingReward, what: str) -> str:
        attempt = f"-{one.attempt}" if one.attempt and what == "things" else ""
        return f"quest-{player.id}-{one.key}-{what}{attempt}"

    async def _move_coins(self, player: Player, one: PendingReward) -> None:
        """Give the coins of a reward once; what cannot be stored now comes at a later login."""
        if one.has_coins or not one.reward.coins:
            one.has_coins = True
            return
        ledger = self._items.ledger
        giver = Owner(OwnerKind.QUEST, one.quest)
        part = Part(giver, Owner.character(player.id), one.reward.coins)
        movement = ledger.movement(
            Reason.REWARDED, [part], [player.character.account_id],
            request=self._request(player, one, "coins"),
        )  # fmt: skip
        try:
            moved = await ledger.settle(movement)
        except StoreError:
            self._world.count("coins of a quest not stored")
            return
        if moved.outcome is not Outcome.NO_OWNER:
            one.has_coins = True
            self._journals.changed(player)

    def _say_coins(self, player: Player, one: PendingReward) -> None:
        if not one.reward.coins or not one.has_coins or not sees(player):
            return
        player.client.send("WS_PlaySound", {"name": SOUND})
        text = COINS.format(coins=coins_text(one.reward.coins), title=one.title)
        send_text(player.client, text, own_color(player.client, COINS_COLOR))

    def _settle_empty(self, player: Player, one: PendingReward) -> None:
        """Forget a reward that gives nothing more: no client answers a window without things.

        A window with coins alone is shown all the same, and its answer does nothing. Things that
        nothing describes are not in the window, so they are no reason for an answer.
        """
        if not self._waits(player, one):
            return  # answered while its coins were stored
        reward = one.reward
        has_things = any(self._known([*reward.items, *reward.choices]))
        if one.has_coins and not (has_things or reward.factions):
            self._remove(player, one)
            self._world.saves.add_status(player, reward.status)
            self._journals.changed(player)
            self._show_next(player)

    # -- gifts in the middle of a quest -----------------------------------------------------------

    def gift(
        self, player: Player, taken: TakenQuest, text: str, items: tuple[tuple[int, int], ...]
    ) -> bool:
        """Give things before a quest is completed, by a window; False while one is open."""
        journal, plan = self._journals.of(player), taken.plan
        if plan is None or len(journal.pending) >= MOST_PENDING:
            return False
        prefix = "gift"
        if any(one.quest == taken.number and one.turn.startswith(prefix)
               for one in journal.pending):  # fmt: skip
            return False
        taken.gifts += 1
        turn = f"{prefix}{journal.times(taken.number)}.{taken.gifts}"
        status = plan.gift_status if plan.gift_status and journal.thanks(taken) else 0
        reward = QuestReward(coins=plan.gift_coins, items=items, status=status)
        # A quest that was given up and taken again gives its things again, for its steps may need
        # them. The moment at which it was taken makes their identity a new one. Coins come once, by
        # the ledger, and status points by what the journal has.
        one = PendingReward(
            taken.number, turn, plan.title, text, reward, attempt=round(taken.accepted * MOMENTS),
            level=plan.level, difficulty=color(player, plan.level),
        )  # fmt: skip
        plan.gift_coins = plan.gift_status = 0  # they were for this window
        journal.pending.append(one)
        self._journals.changed(player)
        self._world.start(self._give_gift(player, one))
        return True

    async def _give_gift(self, player: Player, one: PendingReward) -> None:
        await self._move_coins(player, one)
        self._show_next(player)
        self._say_coins(player, one)
        self._settle_empty(player, one)

    # -- windows --------------------------------------------------------------------------------

    def _show_next(self, player: Player) -> None:
        """Open the window of the oldest reward, unless one is open."""
        journal = self._journals.of(player)
        if player.id in self._shown or not journal.pending or not sees(player):
            return
        one = journal.pending[0]
        if self._answered.get(player.id) is one:
            return  # its answer shows the next one
        self._shown[player.id] = one.key
        self._show(player, one)

    def _show(self, player: Player, one: PendingReward) -> None:
        struct, fields = pending_fields(
            player, one, self._journals.kind, self._journals.faction_name
        )
        player.client.send(struct, fields)

    def restore(self, player: Player) -> None:
        """Go on with the rewards of a player that has come into a zone."""
        self._shown.pop(player.id, None)
        self._world.start(self._restore(player))

    async def _restore(self, player: Player) -> None:
        journal = self._journals.of(player)
        for one in [*journal.pending]:
            if self._answered.get(player.id) is one:
                continue  # the answer that is being stored closes it
            if not one.has_coins:
                await self._move_coins(player, one)
                self._say_coins(player, one)
            if player.state is PlayerState.GONE:
                return
            self._give_points(player, one)
            if one.is_taken and not await self._is_settled(player, one):
                return
            self._settle_empty(player, one)
        self._show_next(player)

    async def _is_settled(self, player: Player, one: PendingReward) -> bool:
        """Find out whether the things of a reward were moved before a crash."""
        part = Part(Owner(OwnerKind.QUEST, one.quest), Owner.character(player.id), 0)
        ledger = self._items.ledger
        movement = ledger.movement(
            Reason.REWARDED, [part], [player.character.account_id],
            request=self._request(player, one, "things"),
        )  # fmt: skip
        try:
            was_done = await ledger.was_carried_out(movement)
        except StoreError:
            self._world.count("reward of a quest of unknown outcome")
            return False
        if not one.is_taken or self._answered.get(player.id) is one:
            return True  # another entry has found it out meanwhile
        one.is_taken = False
        if was_done:
            self._close(player, one)
        else:
            # Its identity is barred now.
            one.attempt += 1
        self._journals.changed(player)
        return True

    def _close(self, player: Player, one: PendingReward) -> None:
        """Forget a reward whose things were moved, and give the rest of it."""
        self._remove(player, one)
        self._give_factions(player, one.reward)
        self._world.saves.add_status(player, one.reward.status)

    def _remove(self, player: Player, one: PendingReward) -> None:
        journal = self._journals.of(player)
        journal.pending = [other for other in journal.pending if other is not one]
        if self._shown.get(player.id) == one.key:
            del self._shown[player.id]

    # -- answers --------------------------------------------------------------------------------

    def is_open(self, player: Player) -> bool:
        """Return whether a player has the window of a reward open."""
        return player.id in self._shown

    async def accept(self, player: Player, choice: int) -> None:
        """Take the reward whose window is open, with a choice; 0 without one.

        Raises `CommandError` if no window is open or the choice is not offered; the window then
        comes again.
        """
        journal = self._journals.of(player)
        one = next((one for one in journal.pending if one.key == self._shown.get(player.id)), None)
        if one is None:
            raise CommandError("no reward waits for you")
        if one.is_taken:
            return  # answered twice
        chosen = self._chosen(one.reward, choice)
        if chosen is None:
            self._show(player, one)
            raise CommandError("choose one of the offered rewards")
        kinds = self._known(chosen)
        if not await self._has_coins(player, one):
            return  # answered twice
        one.is_taken, is_given = True, False
        self._answered[player.id] = one
        try:
            is_given = await self._take(player, one, kinds)
        finally:
            one.is_taken = False
            if self._answered.get(player.id) is one:
                del self._answered[player.id]
            # What was stored before the things moved is no longer true.
            self._journals.changed(player)
            if not is_given and player.state is not PlayerState.GONE:
                # Open again, also for a client that has entered meanwhile.
                self._shown[player.id] = one.key
                self._show(player, one)
        if not is_given:
            return
        self._close(player, one)
        self._show_next(player)

    async def _has_coins(self, player: Player, one: PendingReward) -> bool:
        """Give the coins that could not be stored before; False if the reward was taken meanwhile.

        Raises `CommandError`: the reward waits until its coins are stored.
        """
        if one.has_coins:
            return True
        await self._move_coins(player, one)
        if one.is_taken or not self._waits(player, one):
            return False
        if not one.has_coins:
            self._show(player, one)
            raise CommandError(LATER)
        self._say_coins(player, one)
        return True

    def _waits(self, player: Player, one: PendingReward) -> bool:
        return any(other is one for other in self._journals.of(player).pending)

    def _chosen(self, reward: QuestReward, choice: int) -> list[tuple[int, int]] | None:
        """Return what a player gets with a choice; None if that is not offered."""
        offered = [one for one in reward.choices if self._journals.kind(one[0]) is not None]
        if not offered:
            return [*reward.items] if choice == 0 or not reward.choices else None
        found = next((one for one in offered if one[0] == choice), None)
        return [*reward.items, found] if found is not None else None

    def _known(self, chosen: list[tuple[int, int]]) -> list[tuple[ItemKind, int]]:
        known: list[tuple[ItemKind, int]] = []
        for number, count in chosen:
            kind = self._journals.kind(number)
            if kind is None:
                self._world.count("reward that nothing describes")
            else:
                known.append((kind, min(max(1, count), MOST_MADE)))
        return known

    async def _take(
        self, player: Player, one: PendingReward, kinds: list[tuple[ItemKind, int]]
    ) -> bool:
        """Put things into a player's bags, all or none; return whether they are there."""
        if not kinds:
            return True
        made: list[Thing] = []
        refused: list[Refusal] = []
        giver, mine = Owner(OwnerKind.QUEST, one.quest), Owner.character(player.id)

        def act() -> Act | None:
            inventory = player.holdings.inventory
            counts = [(kind, kind.given_count(count)) for kind, count in kinds]
            if not inventory.has_space(counts):
                return None
            for kind, count in counts:
                refusal = inventory.refuses(kind, count)
                if refusal is not None:
                    refused.append(refusal)
                    return None
                made.extend(inventory.add_things(kind, count, self._items.new_number))
            parts = [things(giver, mine, kind.id, count) for kind, count in counts]
            return Act(parts, request=self._request(player, one, "things"))

        try:
            # Stored before the things move: after a crash the ledger is asked.
            self._journals.changed(player)
            await self._world.saves.confirm(player, SavedKind.QUESTS)
            outcome = await self._items.exchange(Reason.REWARDED, [player], act)
        except StoreError as error:
            raise CommandError(LATER) from error
        if outcome is not Outcome.DONE:
            for refusal in refused:
                self._items.refuse(player, refusal)
            if not refused and sees(player):
                send_text(player.client, NO_PLACE, RED)
            return False
        self._items.changed(player)
        self._items.obtained(player, made)
        return True

    def _give_factions(self, player: Player, reward: QuestReward) -> None:
        for faction, amount in reward.factions:
            row: Row | None = self._journals.content.faction(faction)
            change_standing(self._world, self._chat, player, row, amount, faction=faction)

    def left(self, player: Player) -> None:
        """Forget the open window of a player who leaves."""
        self._shown.pop(player.id, None)
