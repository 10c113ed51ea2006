"""Commands of petitions and reports: players write them, operators answer and close them."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import Any, Final

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import GUIDE, one_line
from emu.correspondence import Petition, PetitionKind
from emu.errors import CommandError
from emu.texts import counted, timestamp
from emu.world.actors.player import Player
from emu.world.commands.context import CommandContext, WorldCommandSet
from emu.world.commands.targets import visible_target
from emu.world.reports import BUG_REPORTED

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

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


# --- players


@quiet("petition", "ask the operators for help", REPORT, cost=Cost.CHANGE,
       example="petition I am stuck under the bridge")  # fmt: skip
async def _petition(context: CommandContext, player: Player, call: Call) -> str:
    number = await context.petitions.open(player, PetitionKind.PETITION, call["text"])
    return f"Your petition has the number {number}. The operators can read and answer it."


@quiet("petition mine", "list your petitions and reports", cost=Cost.LISTING)
async def _mine(context: CommandContext, player: Player, _call: Call) -> Reply:
    found = await context.petitions.own(player)
    lines = [line for one in found for line in (_line(one), *_answer_lines(one))]
    return Reply(tuple(lines) or ("You have no petitions.",), [one.id for one in found])


@quiet("petition cancel", "cancel a petition of yours", NUMBER, cost=Cost.CHANGE,
       example="petition cancel 5")  # fmt: skip
async def _cancel(context: CommandContext, player: Player, call: Call) -> str:
    await context.petitions.cancel(player, call["number"])
    return f"petition {call['number']} is cancelled"


def _declare_report(name: str, kind: PetitionKind, help_text: str, example: str) -> None:
    """Declare a command of the client that reports something."""

    @quiet(name, help_text, REPORT, cost=Cost.CHANGE, example=f"{name} {example}")
    async def run(context: CommandContext, player: Player, call: Call) -> str:
        # The client's forms separate their fields with a character that nobody can read.
        text = " / ".join(part for part in call["text"].split(FORM_SEPARATOR) if part.strip())
        number = await context.petitions.open(player, kind, text)
        return f"Thank you. Your report has the number {number}."


_declare_report("report_abuse", PetitionKind.ABUSE, "report a player to the operators",
                "Borvik shouts all day")  # fmt: skip
_declare_report("report_typo", PetitionKind.TYPO, "report a wrong text", "the sign says Qeinos")
_declare_report("report_feedback", PetitionKind.FEEDBACK, "write what you think of the world",
                "I like the harbor")  # fmt: skip


@quiet("report_bug", "report a fault to the operators",
       Argument("report", ArgumentKind.TEXT, "the client's form, or a sentence"),
       cost=Cost.CHANGE, aliases=("bug",), example="report_bug I fell down")  # fmt: skip
async def _report_bug(context: CommandContext, player: Player, call: Call) -> str:
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
    number = await context.petitions.open(player, PetitionKind.BUG, text[:2000])
    # Over the bus, because another process may have the links to the login servers.
    context.world.processes.bus.publish(
        BUG_REPORTED,
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
async def _list(context: CommandContext, call: Call) -> Reply:
    found = await context.petitions.every(is_open=call["which"] == OPEN)
    which = call["which"]
    lines = [counted(len(found), f"{which} petition"), *map(_line, found)]
    return Reply(tuple(lines), [_row(one) for one in found])


@COMMANDS.command("petition show", "show a petition with its answer", NUMBER, rank=GUIDE,
                  is_quiet=True, example="petition show 5")  # fmt: skip
async def _show(context: CommandContext, call: Call) -> Reply:
    one = await context.petitions.find(call["number"])
    lines = (_line(one), f"at {one.place}", *_answer_lines(one))
    return Reply(lines, _row(one))


@COMMANDS.command("petition answer", "answer a petition; its player sees the answer", NUMBER,
                  Argument("text", ArgumentKind.TEXT, "the answer"), rank=GUIDE,
                  changes="petition {number}",
                  example="petition answer 5 We are on our way")  # fmt: skip
async def _answer(context: CommandContext, call: Call) -> str:
    one = await context.petitions.answer(call["number"], call["text"], call.caller.name)
    return f"petition {one.id} of {one.player} is answered"


@COMMANDS.command("petition close", "close a petition", NUMBER, rank=GUIDE,
                  changes="petition {number}", example="petition close 5")  # fmt: skip
async def _close(context: CommandContext, call: Call) -> str:
    one = await context.petitions.close(call["number"], call.caller.name)
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
