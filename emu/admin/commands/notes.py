"""Notes of operators about accounts: what colleagues should know. Players never see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from emu.admin.ports import AccountAdministration, NoteStore
from emu.audit import LONGEST_TEXT, Change, OperatorNote
from emu.commands import Argument, ArgumentKind, Call, CommandSet, Reply
from emu.commands.registry import GUIDE, one_line
from emu.errors import CommandError
from emu.model import Account
from emu.texts import counted, timestamp
from emu.times import Clock


@dataclass(frozen=True, slots=True)
class NoteCommandContext:
    """The context of these commands."""

    notes: NoteStore
    accounts: AccountAdministration
    clock: Clock


ACCOUNT = Argument("account", help="the account")
TEXT = Argument("text", ArgumentKind.TEXT, "what colleagues should know")
NUMBER = Argument("number", ArgumentKind.NUMBER, "its number")

COMMANDS = CommandSet[NoteCommandContext]()


@COMMANDS.command(
    "note add", "write a note about an account, for operators only", ACCOUNT, TEXT, rank=GUIDE,
    changes="account {account}", example="note add alice Was warned for spam",
)  # fmt: skip
async def _add(context: NoteCommandContext, call: Call) -> Reply:
    account, text = await _found(context, call["account"]), one_line(call["text"])
    if not 0 < len(text) <= LONGEST_TEXT:
        raise CommandError(f"a note has 1 to {LONGEST_TEXT} characters")
    moment = context.clock.moment()
    number = await context.notes.add_note(OperatorNote(account.id, moment, call.caller.name, text))
    line = f"note {number} about account {account.name} is stored"
    return Reply((line,), {"number": number}, change=Change(after=text))


@COMMANDS.command(
    "note list", "list the notes about an account, the newest first", ACCOUNT, rank=GUIDE,
    is_quiet=True, example="note list alice",
)  # fmt: skip
async def _list(context: NoteCommandContext, call: Call) -> Reply:
    account = await _found(context, call["account"])
    rows = [_row(one) for one in await context.notes.of_account(account.id)]
    lines = [f"{row['number']}: {row['moment']} {row['who']}: {row['text']}" for row in rows]
    return Reply((counted(len(rows), "note"), *lines), rows)


@COMMANDS.command(
    "note remove", "remove a note", NUMBER, rank=GUIDE, changes="note {number}",
    example="note remove 5",
)  # fmt: skip
async def _remove(context: NoteCommandContext, call: Call) -> Reply:
    removed = await context.notes.remove(call["number"])
    if removed is None:
        raise CommandError(f"there is no note {call['number']}")
    return Reply((f"note {removed.id} is removed",), change=Change(before=removed.text))


async def _found(context: NoteCommandContext, name: str) -> Account:
    account = await context.accounts.find_account(name)
    if account is None:
        raise CommandError(f"there is no account {name}")
    return account


def _row(note: OperatorNote) -> dict[str, Any]:
    return {
        "number": note.id, "moment": timestamp(note.moment), "who": note.who, "text": note.text,
    }  # fmt: skip
