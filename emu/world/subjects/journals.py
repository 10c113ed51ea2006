"""The commands and messages of clients about quests, and the commands of game masters."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import MASTER
from emu.errors import CommandError, MalformedMessage
from emu.model import may_see
from emu.quests.journal import TakenQuest
from emu.quests.plans import Step
from emu.texts import counted
from emu.times import Monotonic
from emu.world.actors.player import IN_ZONE, Player
from emu.world.commands.context import PlayerCommandSet
from emu.world.crafting.collecting import Collecting
from emu.world.messages import WorldMessages
from emu.world.quests.component import QuestParts
from emu.world.subjects.subject import Subject

SHORTEST_INSPECT: Final = 4
"""Bytes of the number alone; clients send more behind it."""
MOST_NAMED: Final = 100
"""Quests that one message of a client names."""
LARGEST: Final = 0xFFFFFFFF
QUEST = Argument("quest", ArgumentKind.NUMBER, "the number of the quest")
STEP = Argument("step", ArgumentKind.NUMBER, "the number of the step")
WORDS = Argument("words", ArgumentKind.TEXT, "what the client's window sends", optional=True)
WHOM = Argument("name", help="the player", among="player")


class JournalCommands(Subject):
    """The journal as clients and game masters use it."""

    def __init__(self, parts: QuestParts, collecting: Collecting) -> None:
        """`collecting` has the other rewards that players answer with the same command."""
        self.parts = parts
        self.collecting = collecting
        self.quests = parts.quests

    def register(self, messages: WorldMessages) -> None:
        """Add the messages of the journal."""
        messages.add_handler("OP_QuestJournalInspectMsg", self._inspected, IN_ZONE)
        messages.add_handler("OP_QuestJournalSetVisibleMsg", self._set_visible, IN_ZONE)
        messages.add_handler("OP_QuestJournalWaypointMsg", self._set_tracked, IN_ZONE)

    def _inspected(self, player: Player, body: bytes, _now: Monotonic) -> None:
        """Answer with one quest. Raises `MalformedMessage`."""
        # Four bytes were recorded; the client of 2006 sends more behind them.
        if len(body) < SHORTEST_INSPECT:
            raise MalformedMessage("quest cut short")
        self.parts.journals.inspect(player, int.from_bytes(body[:SHORTEST_INSPECT], "little"))

    def _set_visible(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_QuestJournalVisible").decode(body)
        for row in fields["quest_array"][:MOST_NAMED]:
            self.parts.journals.set_visible(
                player, row["quest_id"], is_visible=bool(fields["visible"])
            )

    def _set_tracked(self, player: Player, body: bytes, _now: Monotonic) -> None:
        fields = player.client.dialect.layout("WS_QuestJournalWaypoint").decode(body)
        if "quest_array" not in fields:
            self.parts.journals.set_tracked(player, fields["quest_id"])
            return
        for row in fields["quest_array"][:MOST_NAMED]:
            self.parts.journals.set_tracked(
                player, row["quest_id"], is_tracked=bool(row["quest_tracked"])
            )

    def player(self, name: str, call: Call) -> Player:
        """Return a player of this process by name. Raises `CommandError`."""
        found = self.quests.world.players.named(name)
        if found is None or not (
            found is call.caller.player or may_see(call.caller.rank, found.spawn)
        ):
            raise CommandError(f"there is no player {name} in the world")
        return found

    def taken(self, player: Player, number: int) -> TakenQuest:
        """Return a quest that a player has. Raises `CommandError`."""
        taken = self.quests.journal(player).open.get(number)
        if taken is None:
            raise CommandError(f"{player.name} does not have quest {number}")
        return taken

    def title(self, number: int) -> str:
        """Return the title of a quest. Raises `CommandError` if there is none."""
        plan = self.parts.journals.plan(number)
        if plan is None:
            raise CommandError(f"there is no quest {number}")
        return plan.title


COMMANDS = PlayerCommandSet[JournalCommands]()
quiet = partial(COMMANDS.for_players, is_quiet=True)

# --- clients' windows


def _number(call: Call) -> int:
    """Return the number that a client's window sends; 0 for anything else."""
    words = (call["words"] or "").split()
    word = words[0] if words else ""
    is_number = word.isascii() and word.isdigit() and len(word) <= 10
    return min(int(word), LARGEST) if is_number else 0


@quiet("q_accept_pending_quest", "take a quest that was offered to you", WORDS, cost=Cost.CHANGE,
       example="q_accept_pending_quest 524")  # fmt: skip
async def _accept(journal: JournalCommands, player: Player, call: Call) -> None:
    journal.quests.accept(player, _number(call))


@quiet("q_deny_pending_quest", "refuse a quest that was offered to you", WORDS, cost=Cost.CHANGE,
       example="q_deny_pending_quest 524")  # fmt: skip
async def _decline(journal: JournalCommands, player: Player, call: Call) -> None:
    journal.quests.decline(player, _number(call))


@quiet("q_list_pending_quests", "list the quests that were offered to you", cost=Cost.LISTING)
async def _pending(journal: JournalCommands, player: Player, _call: Call) -> Reply:
    offered = journal.quests.journal(player).offered
    plans = [journal.parts.journals.plan(number) for number in offered]
    lines = [f"{one.number}  {one.title}" for one in plans if one is not None]
    return Reply(tuple(lines) or ("No quest is offered to you.",), [*offered])


@quiet("quests", "list your quests, and what is left to do in each", cost=Cost.LISTING)
async def _own(journal: JournalCommands, player: Player, _call: Call) -> Reply:
    """For clients without a window: the scripted client, and bots."""
    found = journal.quests.journal(player)
    lines = [line for one in found.open.values() for line in _lines(one)]
    plans = [journal.parts.journals.plan(number) for number in found.offered]
    lines += [f"offered: {one.title}: q_accept_pending_quest {one.number}" for one in plans if one]
    return Reply(
        tuple(lines) or ("You have no quests.",), [_row(one) for one in found.open.values()]
    )


@quiet("deletequest", "give up a quest", WORDS, cost=Cost.CHANGE, example="deletequest 524")
async def _delete(journal: JournalCommands, player: Player, call: Call) -> None:
    journal.quests.drop(player, _number(call))


@quiet("accept_reward", "take the reward that is shown", WORDS, cost=Cost.CHANGE,
       example="accept_reward 0 0")  # fmt: skip
async def _take_reward(journal: JournalCommands, player: Player, call: Call) -> None:
    rewards, choice = journal.parts.rewards, _number(call)
    if not rewards.is_open(player):
        if not journal.collecting.answer(player, choice):
            raise CommandError("no reward waits for you")
        return
    await rewards.accept(player, choice)
    if not rewards.is_open(player) and journal.collecting.offered(player) is not None:
        # The window of the quest stood in front of it.
        journal.collecting.hand_in(player)


@quiet("share_quest", "offer a quest of yours to your group", WORDS, cost=Cost.CHANGE,
       example="share_quest 524")  # fmt: skip
async def _share(journal: JournalCommands, player: Player, call: Call) -> str | None:
    others = journal.parts.near(player)
    count = journal.quests.share(player, _number(call), others)
    return None if count else "Nobody near you in your group can take this quest."


# --- game masters


@COMMANDS.command("quest list", "list the quests of a player", WHOM, rank=MASTER, is_quiet=True,
                  cost=Cost.LISTING, example="quest list Borvik")  # fmt: skip
async def _list(journal: JournalCommands, call: Call) -> Reply:
    player = journal.player(call["name"], call)
    found = journal.quests.journal(player)
    lines = [counted(len(found.open), "open quest")]
    lines += [_line(one) for one in found.open.values()]
    lines.append(counted(len(found.completed), "completed quest"))
    if found.pending:
        lines.append(counted(len(found.pending), "reward") + " not taken")
    return Reply(tuple(lines), [_row(one) for one in found.open.values()])


@COMMANDS.command("quest show", "show a quest with its steps", QUEST, rank=MASTER, is_quiet=True,
                  example="quest show 524")  # fmt: skip
async def _show(journal: JournalCommands, call: Call) -> Reply:
    number = call["quest"]
    journal.title(number)
    plan = journal.parts.journals.plan(number)
    assert plan is not None  # noqa: S101  # it has a title
    lines = [f"{plan.number}  {plan.title}, level {plan.level}, {plan.category}, {plan.zone}"]
    lines += [_step_line(one) for one in plan.steps.values()]
    return Reply(tuple(lines), {"id": number, "title": plan.title})


@COMMANDS.command("quest give", "give a player a quest, whatever the quest asks for", WHOM, QUEST,
                  rank=MASTER, changes="character {name}",
                  example="quest give Borvik 524")  # fmt: skip
async def _give(journal: JournalCommands, call: Call) -> str:
    player, number = journal.player(call["name"], call), call["quest"]
    title = journal.title(number)
    if not journal.quests.offer(player, number, is_forced=True):
        raise CommandError(f"{player.name} has this quest, or has completed it")
    return f"{player.name} has the quest {title}"


@COMMANDS.command("quest step", "end a step of a player's quest as done", WHOM, QUEST, STEP,
                  rank=MASTER, changes="character {name}",
                  example="quest step Borvik 524 1")  # fmt: skip
async def _do_step(journal: JournalCommands, call: Call) -> str:
    player = journal.player(call["name"], call)
    taken, step = journal.taken(player, call["quest"]), call["step"]
    if not journal.quests.complete(player, taken, step):
        raise CommandError(f"step {step} of quest {taken.number} is not open")
    return f"step {step} of quest {taken.number} of {player.name} is done"


@COMMANDS.command("quest finish", "complete a player's quest, with its reward", WHOM, QUEST,
                  rank=MASTER, changes="character {name}",
                  example="quest finish Borvik 524")  # fmt: skip
async def _finish(journal: JournalCommands, call: Call) -> str:
    player = journal.player(call["name"], call)
    taken = journal.taken(player, call["quest"])
    if not journal.quests.finish(player, taken.number):
        raise CommandError(
            f"quest {taken.number} is not on this server now, or too many rewards wait"
        )
    return f"{player.name} has completed quest {taken.number}"


@COMMANDS.command("quest drop", "take a quest from a player", WHOM, QUEST, rank=MASTER,
                  changes="character {name}", example="quest drop Borvik 524")  # fmt: skip
async def _drop(journal: JournalCommands, call: Call) -> str:
    player = journal.player(call["name"], call)
    taken = journal.taken(player, call["quest"])
    journal.quests.drop(player, taken.number, is_forced=True)
    return f"{player.name} does not have quest {taken.number} any more"


def _lines(taken: TakenQuest) -> list[str]:
    """Return the lines of an open quest for its player."""
    if taken.plan is None:
        return [f"{taken.number}: not on this server now"]
    lines = [f"{taken.plan.title}, level {taken.plan.level}"]
    for step in taken.open_steps():
        count = f" ({taken.count(step.number)} of {step.quantity})" if step.quantity > 1 else ""
        lines.append(f"  {step.text}{count}")
    return lines


def _line(taken: TakenQuest) -> str:
    """Return the line of an open quest in a list."""
    plan = taken.plan
    if plan is None:
        return f"{taken.number}  not on this server now"
    steps = [f"{one.number} ({taken.count(one.number)}/{one.quantity})"
             for one in taken.open_steps()]  # fmt: skip
    return f"{taken.number}  {plan.title}: {'open steps ' + ', '.join(steps) if steps else 'done'}"


def _step_line(step: Step) -> str:
    what = [step.kind.value, f"{step.quantity} times" if step.quantity > 1 else ""]
    ids = ", ".join(str(one) for one in sorted(step.ids)) or ", ".join(sorted(step.names))
    return f"  {step.number}  {', '.join(one for one in what if one)}: {step.text} [{ids}]"


def _row(taken: TakenQuest) -> dict[str, Any]:
    """Return an open quest as a JSON object."""
    return {
        "id": taken.number,
        "title": taken.plan.title if taken.plan is not None else None,
        "accepted": taken.accepted,
        "done": sorted(taken.done),
        "counts": {str(step): count for step, count in taken.counts.items()},
    }


JournalCommands.COMMANDS = COMMANDS
