"""`Givers`: the spawns that give the quests of files, and those that their steps talk to.

A hail opens the dialog of a step, else the offer of a quest, else a line about one.
Source: docs/guides/quests.md#files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from emu.quests.journal import TakenQuest
from emu.quests.plans import StepKind
from emu.quests.staged import StagedQuest
from emu.world.actors.player import Player
from emu.world.actors.spawn import Spawn, SpawnKind
from emu.world.conversations import Conversations, DialogPage
from emu.world.events import DialogAnswered, Entered, Hailed
from emu.world.quests.feathers import Feathers
from emu.world.quests.quests import Quests
from emu.world.zones.zone import Zone

REACH: Final = 10.0
"""How far a player may be from a spawn that it hails."""
ANSWER_REACH: Final = 2 * REACH
GO_ON: Final = "I see."
"""The answer to a line about a quest."""


@dataclass(slots=True, eq=False)
class GiverTalk:
    """The dialogs of one spawn about quests of files."""

    spawn: Spawn


class GiverReply(NamedTuple):
    """What an answer does: offers a quest, or does a step of it."""

    quest: int
    step: int = 0


class Givers:
    """Opens the dialogs of quests of files."""

    def __init__(self, quests: Quests, feathers: Feathers, conversations: Conversations) -> None:
        self._quests = quests
        self._feathers = feathers
        self._conversations = conversations
        self._talks: dict[int, GiverTalk] = {}
        """By the number of the spawn."""
        events = quests.world.events
        events.subscribe(Hailed, self._hailed)
        events.subscribe(DialogAnswered, self._answered)
        events.subscribe(Entered, self._entered)

    def _staged(self) -> list[StagedQuest]:
        return [*self._quests.journals.content.staged.values()]

    def appeared(self, zone: Zone, spawn: Spawn) -> None:
        """Let a spawn show marks for the quests that it gives."""
        if spawn.kind is not SpawnKind.NPC:
            return
        for one in self._staged():
            if _is_giver(one, spawn, zone):
                self._feathers.provide(zone, spawn, one.plan.number)

    def _entered(self, event: Entered) -> None:
        """Offer the quests of a zone that no spawn gives."""
        player = event.player
        for one in self._staged():
            if not one.giver.name and one.giver.zone == player.zone.zone_id:
                number = one.plan.number
                if self._quests.may_take(player, number):
                    self._quests.offer(player, number)

    # -- talks ----------------------------------------------------------------------------------

    def _hailed(self, event: Hailed) -> None:
        player, spawn = event.player, event.target
        staged = self._quests.journals.content.staged
        if not staged or spawn.kind is not SpawnKind.NPC:
            return
        if player.position.distance_to(spawn.position) > REACH:
            return
        _ = self._talk_of_step(player, spawn) or self._offer_of(player, spawn)

    def _talk_of_step(self, player: Player, spawn: Spawn) -> bool:
        """Open the dialog of an open step of talking to a spawn; return False if there is none."""
        name = spawn.name.casefold()
        for taken in self._quests.journal(player).open.values():
            for step in taken.open_steps():
                if step.kind is StepKind.TALK and name in step.names:
                    return self._show_step(player, spawn, taken, step.number)
        return False

    def _show_step(self, player: Player, spawn: Spawn, taken: TakenQuest, number: int) -> bool:
        staged = self._quests.journals.content.staged.get(taken.number)
        talk = staged.talks.get(number) if staged is not None else None
        if talk is None:
            # Without words of its own the hail alone does it.
            return self._quests.progress(player, taken, number, name=spawn.name)
        reply = GiverReply(taken.number, number)
        return self._open(player, spawn, talk.says, [(talk.answer, reply)])

    def _offer_of(self, player: Player, spawn: Spawn) -> bool:
        given = [one for one in self._staged() if _is_giver(one, spawn, player.zone)]
        for one in given:
            if self._quests.may_take(player, one.plan.number):
                answers = [
                    (one.giver.accept, GiverReply(one.plan.number)), (one.giver.decline, None),
                ]  # fmt: skip
                return self._open(player, spawn, one.giver.says, answers)
        journal = self._quests.journal(player)
        for one in reversed(given):
            text = ""
            if journal.has(one.plan.number):
                text = one.giver.busy
            elif one.plan.number in journal.completed:
                text = one.giver.thanks
            if text:
                return self._open(player, spawn, text, [(GO_ON, None)])
        return False

    def _open(
        self, player: Player, spawn: Spawn, text: str, answers: list[tuple[str, GiverReply | None]]
    ) -> bool:
        owner = self._talks.get(spawn.id)
        if owner is None:
            owner = self._talks[spawn.id] = GiverTalk(spawn)
        page = DialogPage(text=text.replace("{name}", player.name), reach=ANSWER_REACH)
        return self._conversations.open(player, spawn, page, answers, owner=owner)

    def _answered(self, event: DialogAnswered) -> None:
        owner, reply, player = event.owner, event.reply, event.player
        if not isinstance(owner, GiverTalk) or not isinstance(reply, GiverReply):
            return
        if not reply.step:
            self._conversations.close(player, owner)
            if self._quests.may_take(player, reply.quest):
                self._quests.offer(player, reply.quest, owner.spawn.look.dealing.number)
            return
        taken = self._quests.journal(player).open.get(reply.quest)
        staged = self._quests.journals.content.staged.get(reply.quest)
        talk = staged.talks.get(reply.step) if staged is not None else None
        if taken is None or talk is None:
            self._conversations.close(player, owner)
            return
        if talk.reply:
            self._open(player, owner.spawn, talk.reply, [(GO_ON, None)])
        else:
            self._conversations.close(player, owner)
        self._quests.progress(player, taken, reply.step, name="")

    def vanished(self, spawn: Spawn) -> None:
        """Forget a spawn that is gone."""
        self._talks.pop(spawn.id, None)


def _is_giver(one: StagedQuest, spawn: Spawn, zone: Zone) -> bool:
    giver = one.giver
    return (
        bool(giver.name)
        and giver.name == spawn.name
        and giver.zone in (0, zone.zone_id)
    )  # fmt: skip
