"""Commands of mail: those of the client's mail window, and the same as lines of text.

The window calls commands for everything but sending, which is a message of its own
(`emu.world.social.mail`). A client without a mail window uses the lines.
"""

from __future__ import annotations

from functools import partial

from emu.commands import Argument, ArgumentKind, Call, Cost, Reply
from emu.commands.registry import MASTER
from emu.correspondence import Letter, PetitionKind
from emu.errors import CommandError
from emu.rules.coins import coins_text
from emu.texts import counted, timestamp
from emu.world.actors.player import Player
from emu.world.commands.context import NAME, CommandContext, WorldCommandSet
from emu.world.social.mail import COINS, Draft, subject_of

COMMANDS = WorldCommandSet()
quiet = partial(COMMANDS.for_players, is_quiet=True)

LETTER = Argument("letter", ArgumentKind.NUMBER, "its number")
SUBJECT_END = "/"
"""Separates the subject of a letter from its text on a command line."""


# --- the window


@quiet("start_mail", "open your mailbox", cost=Cost.LISTING)
async def _open(context: CommandContext, player: Player, call: Call) -> Reply | None:
    context.mail.open_window(player)
    if await context.mail.show_box(player):
        return None
    # A client that has no such window is shown lines.
    return await _list(context, player, call)


@quiet("getmailheaders", "show your mailbox again", cost=Cost.LISTING)
async def _headers(context: CommandContext, player: Player, _call: Call) -> None:
    await context.mail.show_box(player)


@quiet("getmailmessage", "open a letter", LETTER, cost=Cost.LISTING, example="getmailmessage 5")
async def _message(context: CommandContext, player: Player, call: Call) -> None:
    await context.mail.show_letter(player, call["letter"])


@quiet("takemailattachments", "take what is in a letter", LETTER, cost=Cost.CHANGE,
       example="takemailattachments 5")  # fmt: skip
async def _take_attachments(context: CommandContext, player: Player, call: Call) -> str:
    text = await _take(context, player, call)
    await context.mail.show_box(player)
    return text


@quiet("deletemailmessage", "delete a letter", LETTER, cost=Cost.CHANGE,
       example="deletemailmessage 5")  # fmt: skip
async def _delete_message(context: CommandContext, player: Player, call: Call) -> None:
    try:
        await context.mail.delete(player, call["letter"])
    except CommandError:
        # The client has removed the letter from its window already, so it is sent the box again.
        await context.mail.show_box(player)
        raise


@quiet("clear_mailbox", "delete all letters that you have read and emptied", cost=Cost.CHANGE)
async def _clear(context: CommandContext, player: Player, _call: Call) -> str:
    removed = await context.mail.clear(player)
    await context.mail.show_box(player)
    return f"{counted(removed, 'letter')} deleted"


@quiet("cancel_mail", "close your mailbox")
async def _close(context: CommandContext, player: Player, _call: Call) -> None:
    line = context.mail.close_window(player)
    if line:
        context.chat.line(player, line, "narrative")


@quiet("cancel_send_mail", "take what is attached out of the letter that you write")
async def _cancel(context: CommandContext, player: Player, _call: Call) -> None:
    context.mail.clear_window(player)


def _declare_coins(kind: str) -> None:
    """Declare ``add_mail_KIND`` and ``remove_mail_KIND``."""
    count = Argument("count", ArgumentKind.NUMBER, "how many")
    for name, sign, about in (
        (f"add_mail_{kind}", 1, "add coins to the letter that you write"),
        (f"remove_mail_{kind}", -1, "take coins out of the letter that you write"),
    ):

        @quiet(name, about, count, example=f"{name} 5")
        async def run(
            context: CommandContext, player: Player, call: Call, sign: int = sign
        ) -> None:
            if call["count"] <= 0:
                raise CommandError("the number of coins must be 1 or more")
            line = context.mail.attach(player, kind, sign * call["count"])
            context.chat.line(player, line, "narrative")
            context.mail.show_window(player)


for _kind in COINS:
    _declare_coins(_kind)


@quiet("set_mail_item", "attach an item to the letter that you write",
       Argument("place", ArgumentKind.NUMBER, "the place of its record"),
       Argument("count", ArgumentKind.NUMBER, "how many", optional=True, default=1),
       example="set_mail_item 0 1")  # fmt: skip
async def _attach_item(context: CommandContext, player: Player, call: Call) -> None:
    context.mail.attach_thing(player, call["place"], call["count"])


@quiet("reportspam", "report a letter to the operators and delete it", LETTER, cost=Cost.CHANGE,
       example="reportspam 5")  # fmt: skip
async def _report(context: CommandContext, player: Player, call: Call) -> str:
    letter = await context.mail.find(player, call["letter"])
    text = f"letter of {letter.sender}: {letter.subject}: {letter.body}"
    number = await context.report(player, PetitionKind.SPAM, text)
    if not letter.coins and letter.thing is None:
        await context.mail.delete(player, letter.id)
        await context.mail.show_box(player)
    return f"Thank you. Your report has the number {number}."


# --- lines of text


@quiet("mail", "list your letters", cost=Cost.LISTING)
async def _list(context: CommandContext, player: Player, _call: Call) -> Reply:
    letters = (await context.mail.mailbox(player)).letters
    lines = [
        f"You have {counted(len(letters), 'letter')}.",
        *(_line(context, one) for one in letters),
    ]
    return Reply(tuple(lines), [letter.id for letter in letters])


@quiet("mail read", "read a letter", LETTER, cost=Cost.LISTING, example="mail read 5")
async def _read(context: CommandContext, player: Player, call: Call) -> Reply:
    letter = await context.mail.open_letter(player, call["letter"])
    return Reply((_line(context, letter), *letter.body.splitlines()))


@quiet("mail send", "send a letter, with what you have attached", NAME,
       Argument("letter", ArgumentKind.TEXT, f"subject {SUBJECT_END} text"), cost=Cost.CHANGE,
       example="mail send Borvik Greetings / How are you?")  # fmt: skip
async def _send(context: CommandContext, player: Player, call: Call) -> str:
    subject, _, body = call["letter"].partition(SUBJECT_END)
    to = await context.mail.send(player, Draft.of(call["name"], subject, body), call.now)
    return f"Your letter to {to} is sent."


@quiet("mail take", "take what is in a letter", LETTER, cost=Cost.CHANGE, example="mail take 5")
async def _take(context: CommandContext, player: Player, call: Call) -> str:
    copper, thing = await context.mail.take(player, call["letter"])
    found = [thing] if thing else []
    if copper or not thing:
        found.append(coins_text(copper).lower())
    return f"You take {' and '.join(found)} out of the letter."


@quiet("mail delete", "delete a letter", LETTER, cost=Cost.CHANGE, example="mail delete 5")
async def _delete(context: CommandContext, player: Player, call: Call) -> str:
    await context.mail.delete(player, call["letter"])
    return f"letter {call['letter']} is deleted"


@quiet("mail return", "send a letter back with what is in it", LETTER, cost=Cost.CHANGE,
       example="mail return 5")  # fmt: skip
async def _return(context: CommandContext, player: Player, call: Call) -> str:
    await context.mail.give_back(player, call["letter"])
    return f"letter {call['letter']} is on its way back"


# --- operators


@COMMANDS.command("mailbox", "list the letters of a character, without their texts", NAME,
                  rank=MASTER, cost=Cost.LISTING, example="mailbox Borvik")  # fmt: skip
async def _mailbox(context: CommandContext, call: Call) -> Reply:
    character = await context.world.saves.characters.find_named(call["name"])
    if character is None:
        raise CommandError(f"there is no character {call['name']}")
    letters = await context.mail.of_character(character.id, character.account_id)
    lines = [f"{character.name} has {counted(len(letters), 'letter')}.",
             *(_line(context, one) for one in letters)]  # fmt: skip
    rows = [
        {"id": one.id, "sender": one.sender, "subject": one.subject, "coins": one.coins,
         "thing": one.thing.item_id if one.thing is not None else 0,
         "sent": one.sent, "expires": one.expires, "read": one.is_read}
        for one in letters
    ]  # fmt: skip
    return Reply(tuple(lines), rows)


def _line(context: CommandContext, letter: Letter) -> str:
    """Return the line of a letter in a list."""
    new = "" if letter.is_read else ", new"
    found = [coins_text(letter.coins).lower()] if letter.coins else []
    found += [name] if (name := context.mail.name_of(letter)) else []
    enclosed = f", with {' and '.join(found)}" if found else ""
    return (
        f"{letter.id}: {subject_of(letter)} (from {letter.sender},"
        f" {timestamp(letter.sent)}{enclosed}{new})"
    )
