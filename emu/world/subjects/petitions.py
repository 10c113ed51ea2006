"""Petitions and reports of players, and the answers of the operators, with their commands.

A petition is stored before its player is sent its number. Operators in the world see a line about
each new one; its player sees the answer at once, or when its character enters the world again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, one_line
from emu.correspondence import NewPetition, Petition, PetitionKind, PetitionLimits
from emu.errors import CommandError, StoreError
from emu.processes.ports import Note, PetitionStore
from emu.texts import counted, timestamp
from emu.world.actors.player import Player
from emu.world.commands.context import PlayerCommandSet
from emu.world.commands.targets import visible_target
from emu.world.events import Arrived, FaultReported
from emu.world.reports import BUG_REPORTED
from emu.world.social.chat import Chat
from emu.world.subjects.subject import Subject
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
NUMBER = Argument("number", ArgumentKind.NUMBER, "its number")
REPORT = Argument("text", ArgumentKind.TEXT, "what the operators should know")
OPEN, CLOSED = "open", "closed"
FORM_SEPARATOR: Final = "\a"
"""Separates the fields of the client's form (docs/protocol/world/commands.md#bug-report)."""
BUG_LENGTHS: Final = {
    "category": 63, "subcategory": 63, "causes_crash": 63, "reproducible": 63, "summary": 127,
    "description": 1999, "version": 31,
}  # fmt: skip
"""The fields of the form in their order, with the most bytes of each."""


class Petitions(Subject):
    """The petitions of one world."""

    def __init__(self, *, world: World, store: PetitionStore, chat: Chat) -> None:
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

    def report_bug(self, player: Player, number: int, report: Mapping[str, str | int]) -> None:
        """Pass a report of a fault on to the process that has the links to the login servers."""
        self._world.processes.bus.publish(BUG_REPORTED, report)
        self._world.events.publish(FaultReported(player, number))

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


COMMANDS = PlayerCommandSet[Petitions]()
quiet = partial(COMMANDS.for_players, is_quiet=True)

# --- players


@quiet("petition", "ask the operators for help", REPORT, cost=Cost.CHANGE,
       example="petition I am stuck under the bridge")  # fmt: skip
async def _petition(petitions: Petitions, player: Player, call: Call) -> str:
    number = await petitions.open(player, PetitionKind.PETITION, call["text"])
    return f"Your petition has the number {number}. The operators can read and answer it."


@quiet("petition mine", "list your petitions and reports", cost=Cost.LISTING)
async def _mine(petitions: Petitions, player: Player, _call: Call) -> Reply:
    found = await petitions.own(player)
    lines = [line for one in found for line in (_line(one), *_answer_lines(one))]
    return Reply(tuple(lines) or ("You have no petitions.",), [one.id for one in found])


@quiet("petition cancel", "cancel a petition of yours", NUMBER, cost=Cost.CHANGE,
       example="petition cancel 5")  # fmt: skip
async def _cancel(petitions: Petitions, player: Player, call: Call) -> str:
    await petitions.cancel(player, call["number"])
    return f"petition {call['number']} is cancelled"


def _declare_report(name: str, kind: PetitionKind, help_text: str, example: str) -> None:
    """Declare a command of the client that reports something."""

    @quiet(name, help_text, REPORT, cost=Cost.CHANGE, example=f"{name} {example}")
    async def run(petitions: Petitions, player: Player, call: Call) -> str:
        # The client's forms separate their fields with a character that nobody can read.
        text = " / ".join(part for part in call["text"].split(FORM_SEPARATOR) if part.strip())
        number = await petitions.open(player, kind, text)
        return f"Thank you. Your report has the number {number}."


_declare_report("report_abuse", PetitionKind.ABUSE, "report a player to the operators",
                "Borvik shouts all day")  # fmt: skip
_declare_report("report_typo", PetitionKind.TYPO, "report a wrong text", "the sign says Qeinos")
_declare_report("report_feedback", PetitionKind.FEEDBACK, "write what you think of the world",
                "I like the harbor")  # fmt: skip


@quiet("report_bug", "report a fault to the operators",
       Argument("report", ArgumentKind.TEXT, "the client's form, or a sentence"),
       cost=Cost.CHANGE, aliases=("bug",), example="report_bug I fell down")  # fmt: skip
async def _report_bug(petitions: Petitions, player: Player, call: Call) -> str:
    fields = call["report"].split(FORM_SEPARATOR)
    # A single field is a typed sentence, which is the summary.
    if len(fields) == 1:
        fields = ["", "", "", "", *fields]
    form = dict(zip_longest(BUG_LENGTHS, fields[: len(BUG_LENGTHS)], fillvalue=""))
    target = visible_target(call, player)
    # Cut in bytes, as the link's message does; half a letter at the end is dropped.
    texts = {
        name: one_line(form[name]).encode()[:most].decode(errors="ignore")
        for name, most in BUG_LENGTHS.items()
    }
    if not texts["summary"]:
        raise CommandError("the report has no summary")
    # Stored first: what the limits refuse is not relayed either.
    text = ": ".join(texts[name] for name in ("summary", "description") if texts[name])
    number = await petitions.open(player, PetitionKind.BUG, text[:2000])
    petitions.report_bug(
        player,
        number,
        texts
        | {
            "player": player.name, "account_id": player.character.account_id,
            "spawn_name": target.name[:63] if target is not None else "",
            "spawn_id": target.id if target is not None else 0, "zone_id": player.zone.zone_id,
        },
    )  # fmt: skip
    return f"Thank you. Your report has the number {number}; the operators can read it."


# --- operators


@COMMANDS.command(
    "petition list", "list the petitions and reports of players",
    Argument("which", optional=True, default=OPEN, choices=(OPEN, CLOSED), help="which of them"),
    rank=GUIDE, is_quiet=True, cost=Cost.LISTING, example="petition list closed",
)  # fmt: skip
async def _list(petitions: Petitions, call: Call) -> Reply:
    found = await petitions.every(is_open=call["which"] == OPEN)
    which = call["which"]
    lines = [counted(len(found), f"{which} petition"), *map(_line, found)]
    return Reply(tuple(lines), [_row(one) for one in found])


@COMMANDS.command("petition show", "show a petition with its answer", NUMBER, rank=GUIDE,
                  is_quiet=True, example="petition show 5")  # fmt: skip
async def _show(petitions: Petitions, call: Call) -> Reply:
    one = await petitions.find(call["number"])
    lines = (_line(one), f"at {one.place}", *_answer_lines(one))
    return Reply(lines, _row(one))


@COMMANDS.command("petition answer", "answer a petition; its player sees the answer", NUMBER,
                  Argument("text", ArgumentKind.TEXT, "the answer"), rank=GUIDE,
                  changes="petition {number}",
                  example="petition answer 5 We are on our way")  # fmt: skip
async def _answer(petitions: Petitions, call: Call) -> str:
    one = await petitions.answer(call["number"], call["text"], call.caller.name)
    return f"petition {one.id} of {one.player} is answered"


@COMMANDS.command("petition close", "close a petition", NUMBER, rank=GUIDE,
                  changes="petition {number}", example="petition close 5")  # fmt: skip
async def _close(petitions: Petitions, call: Call) -> str:
    one = await petitions.close(call["number"], call.caller.name)
    return f"petition {one.id} of {one.player} is closed"


def _line(one: Petition) -> str:
    """Return the line of a petition in a list."""
    state = "answered" if one.answered is not None else "open"
    if one.closed is not None:
        state = "closed"
    return f"{one.id}: {one.kind} of {one.player}, {timestamp(one.opened)}, {state}: {one.text}"


def _answer_lines(one: Petition) -> tuple[str, ...]:
    return (f"answer of {one.operator}: {one.answer}",) if one.answer else ()


def _row(one: Petition) -> dict[str, Any]:
    """Return a petition as a JSON object."""
    return {
        "id": one.id,
        "kind": one.kind.value,
        "player": one.player,
        "account_id": one.account_id,
        "text": one.text,
        "place": one.place,
        "opened": one.opened,
        "answer": one.answer,
        "operator": one.operator,
        "answered": one.answered,
        "closed": one.closed,
    }


Petitions.COMMANDS = COMMANDS
