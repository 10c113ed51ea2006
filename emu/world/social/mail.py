"""Mail between characters: the mail window of a client, and what each letter costs.

A letter and what is attached to it are stored in one transaction of the ledger. Until a letter is
sent, its coins and its thing stay with the sender: the window only shows them. Recipients may be
offline, in this process or in another one.

Source: docs/protocol/world/mail.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple, Self

from emu.commands import Cost
from emu.correspondence import (
    LONGEST_BODY,
    LONGEST_SENDER,
    LONGEST_SUBJECT,
    MAIL_FULL,
    CharacterMailbox,
    Letter,
    NewLetter,
    Postage,
    Posted,
    SendResult,
    Taken,
    clean,
)
from emu.dialects.dialect import read_name
from emu.errors import CommandError, EmuError, StoreError, public_text
from emu.ledger import Balance, Owner, OwnerKind, Part, Reason
from emu.limits.rates import Throttle, hourly
from emu.model import WorldCharacter
from emu.processes.ports import MailStore, Note
from emu.times import DAY, Monotonic
from emu.world.actors.client import coin_fields
from emu.world.actors.player import IN_ZONE, MailWindow, Player, Relation
from emu.world.events import LetterRead
from emu.world.item_events import WindowsGone
from emu.world.ledger.ledger import Ledger
from emu.world.login_events import LoggedIn
from emu.world.messages import WorldMessages
from emu.world.social.chat import MUTED, Chat
from emu.world.social.parcels import Parcels, no_item_fields
from emu.world.world import World

ARRIVED: Final = "mail.arrived"
"""Topic on the bus: a letter for the character ``char_id`` was stored."""
SENT_LATE: Final = "Your letter to {to} was sent after all."
CANCELLED: Final = "You cancel sending a letter."
UNREAD: Final = "You have unread mail in your mailbox."
WAITING: Final = "You've got mail! :)"
"""What who enters reads of letters that it has not opened (recorded in real-entry-546-*)."""
POPUP: Final = {
    "unknown": 10, "text": "You have unread mail!", "message_type": "",
    "size": 3.0, "red": 0xFF, "green": 0xFF, "blue": 0xFF,
}  # fmt: skip
COINS: Final = {"copper": 1, "silver": 100, "gold": 10_000, "plat": 1_000_000}
"""Copper of each kind of coin."""
COIN_NAMES: Final = {"copper": "copper", "silver": "silver", "gold": "gold", "plat": "platinum"}
NEVER: Final = 0xFFFFFFFF
"""No second time limit; what clients do with another value is unknown."""
ATTACHMENT_COST: Final = 50
"""Copper for an item beside the postage, as EQ2Emulator says; it never takes it."""
UNKNOWN: Final = 500
"""The last number of a mailbox, as it was recorded."""
CHANGED, OPENED = 0, 3
"""Actions of UpdatePlayerMail: other coins in the window, and a letter that is opened."""
MOST_OF_ONE: Final = 20
"""Letters of one account in one mailbox."""
TEXTS: Final = {
    SendResult.NO_SUCH_PLAYER: "there is no character {to}",
    SendResult.NOT_TO_THIS_PLAYER: "{to} ignores you",
    SendResult.NOT_TO_YOURSELF: "you cannot write to yourself",
    SendResult.MAILBOX_FULL: "the mailbox of {to} is full",
    SendResult.TOO_FEW_COINS: "you do not have enough coins; a letter costs {price} copper",
    SendResult.NOBODY_NAMED: "name the character that you write to",
    # Another process plays the sender by now, or the letter was given up before it was stored.
    SendResult.FAILED: "the letter could not be sent; try again",
}


class NotSent(CommandError):
    """A letter is refused; `result` is what the client's window is sent."""

    def __init__(self, result: SendResult, text: str) -> None:
        super().__init__(text)
        self.result = result


class Draft(NamedTuple):
    """The texts of a letter that a player writes."""

    to: str
    subject: str
    body: str

    @classmethod
    def of(cls, to: str, subject: str, body: str) -> Self:
        """Return a draft of a client's texts, without control characters."""
        return cls(to.strip(), clean(subject).replace("\n", " "), clean(body))


class Attached:
    """Coins and thing of a letter that is being sent, taken out of the window of its sender.

    A second letter that is sent meanwhile has none of them.
    """

    __slots__ = ("_is_back", "_is_sent", "_player", "_window", "coins", "parcel")

    def __init__(self, player: Player) -> None:
        self._player = player
        self._window = window = player.mail or MailWindow(0)
        self.coins, window.coins = window.coins, 0
        self.parcel, window.thing, window.count = (window.thing, window.count), 0, 0
        self._is_back = self._is_sent = False

    def put_back(self) -> bool:
        """Put all of it back, unless the letter turned out to be sent.

        Returns whether the thing is free now: the window is closed, or has another thing.
        """
        if self._is_sent:
            return False
        self._window.coins += self.coins
        self._is_back = True
        number, count = self.parcel
        if number and self._player.mail is self._window and not self._window.thing:
            self._window.thing, self._window.count = number, count
            return False
        self._player.holdings.inventory.locked.discard(number)
        return bool(number)

    def send(self) -> None:
        """Take them out again: the letter was sent after all."""
        self._is_sent = True
        if self._is_back:
            self._window.coins = max(0, self._window.coins - self.coins)


class Mail:
    """The mail of one world."""

    def __init__(
        self, world: World, store: MailStore, chat: Chat, ledger: Ledger, parcels: Parcels
    ) -> None:
        self._world = world
        self._store = store
        self._chat = chat
        self._ledger = ledger
        self._parcels = parcels
        self._sent = Throttle(hourly(world.rules.mails_per_hour))
        world.processes.bus.subscribe(ARRIVED, self._arrived)
        world.events.subscribe(LoggedIn, self._entered)
        world.events.subscribe(WindowsGone, lambda event: self._forget_window(event.player))

    def register(self, messages: WorldMessages) -> None:
        """Add the message that sends a letter to the table."""
        messages.add_handler("OP_MailSendMessageMsg", self._send_requested, IN_ZONE)

    @property
    def postage(self) -> Postage:
        """What a letter costs now."""
        rules = self._world.rules
        return Postage(
            price=rules.mail_postage,
            lasts=rules.mail_days * DAY,
            most=min(rules.mailbox_size, MAIL_FULL),
            most_of_one=MOST_OF_ONE,
        )

    def price(self, player: Player, *, has_thing: bool = False) -> int:
        """Return the postage for a player; game masters pay nothing, as at EQ2Emulator."""
        return 0 if player.rank else self.postage.price + ATTACHMENT_COST * has_thing

    # -- sending --------------------------------------------------------------------------------

    async def send(self, player: Player, draft: Draft, now: Monotonic) -> str:
        """Send a letter with the coins of the player's window; return the recipient's name.

        Raises `NotSent` and `StoreError`.
        """
        self._check(player, draft)
        attached = Attached(player)
        try:
            return await self._post(player, draft, attached, now)
        except BaseException:
            if attached.put_back():
                self._parcels.show_locks(player)
            raise

    async def _post(self, player: Player, draft: Draft, attached: Attached, now: Monotonic) -> str:
        to = draft.to
        recipient = await self._world.saves.characters.find_named(to)
        if recipient is None:
            raise _refusal(SendResult.NO_SUCH_PLAYER, to=to)
        # A player in the world may have changed its list since it was stored.
        there = self._world.players.get(recipient.id)
        ignored = (
            there.relations.knows(Relation.IGNORED, player.name)
            if there is not None
            else (int(Relation.IGNORED), player.name.casefold())
            in {(kind, name.casefold()) for kind, name in recipient.relations}
        )
        if ignored:
            raise _refusal(SendResult.NOT_TO_THIS_PLAYER, to=recipient.name)
        # Charged last: a letter that is refused has reached nobody.
        if not self._sent.take(player.character.account_id, now):
            raise NotSent(SendResult.FAILED, "you have sent too many letters; wait a while")
        letter = NewLetter(
            sender_id=player.id,
            account_id=player.character.account_id,
            recipient_id=recipient.id,
            sender=player.name,
            subject=draft.subject,
            body=draft.body,
            coins=attached.coins,
        )
        price = self.price(player, has_thing=bool(attached.parcel[0]))
        postage = replace(self.postage, price=price)
        posted = await self._posted(player, attached, letter, postage, recipient)
        if posted.result is not SendResult.SENT:
            raise _refusal(posted.result, to=recipient.name, price=price)
        if player.mail is not None:
            player.mail.has_sent = True
        self._has(posted.balance)
        self._world.processes.bus.publish(ARRIVED, {"char_id": recipient.id})
        return recipient.name

    async def _posted(
        self, player: Player, attached: Attached, letter: NewLetter, postage: Postage,
        recipient: WorldCharacter,
    ) -> Posted:  # fmt: skip
        """Store a letter with what is attached."""
        if attached.parcel[0]:
            return await self._parcels.send(player, attached.parcel, letter, postage)
        cost = postage.price + letter.coins  # the store knows which coins go where
        part = Part(Owner.character(player.id), Owner(OwnerKind.POSTAGE), cost)
        paid = self._ledger.movement(Reason.SENT, [part], [letter.account_id])
        moment = self._world.clock.moment()
        return await self._ledger.carry_out(
            paid,
            lambda: self._store.send(letter, postage, moment, paid.request),
            late=partial(self._sent_late, player, recipient, attached),
        )

    def _sent_late(self, player: Player, recipient: WorldCharacter, attached: Attached) -> None:
        """Correct the failure that a player was shown: its letter is stored."""
        attached.send()
        if player.mail is not None and player.is_online:
            self._send_window(player, player.mail)
        self._line(player, SENT_LATE.format(to=recipient.name))
        self._world.processes.bus.publish(ARRIVED, {"char_id": recipient.id})

    async def deliver(self, char_id: int, sender: str, draft: Draft, coins: int = 0) -> SendResult:
        """Put a letter of nobody who plays into a mailbox; `sender` is the name that it shows.

        A text that is too long is cut. A mailbox takes the same letter once. Raises `StoreError`.
        """
        letter = NewLetter(
            sender_id=0, account_id=0, recipient_id=char_id, sender=sender[:LONGEST_SENDER],
            subject=draft.subject[:LONGEST_SUBJECT], body=draft.body[:LONGEST_BODY], coins=coins,
        )  # fmt: skip
        part = Part(Owner(OwnerKind.SCRIPT), Owner.character(char_id), coins)
        given = self._ledger.movement(Reason.SENT, [part], ())
        moment = self._world.clock.moment()
        result = await self._ledger.carry_out(
            given, lambda: self._store.deliver(letter, self.postage, moment, given.request)
        )
        if result is SendResult.SENT:
            self._world.processes.bus.publish(ARRIVED, {"char_id": char_id})
        return result

    def _check(self, player: Player, draft: Draft) -> None:
        if not draft.to:
            raise _refusal(SendResult.NOBODY_NAMED)
        if draft.to.casefold() == player.name.casefold():
            raise _refusal(SendResult.NOT_TO_YOURSELF)
        if self._world.is_muted(player):
            raise NotSent(SendResult.FAILED, MUTED)
        # Not cut: the sender would not know what is missing.
        if len(draft.subject) > LONGEST_SUBJECT:
            raise NotSent(SendResult.FAILED, f"a subject has {LONGEST_SUBJECT} characters at most")
        if len(draft.body) > LONGEST_BODY:
            raise NotSent(SendResult.FAILED, f"a letter has {LONGEST_BODY} characters at most")

    def _send_requested(self, player: Player, body: bytes, now: Monotonic) -> None:
        """Handle the letter of a client's window. Raises `MalformedMessage`."""
        layout = player.client.dialect.layout("WS_MailSendMessage")
        # Later versions have more behind the texts, about items.
        fields, _ = layout.decode_prefix(body)
        texts = [read_name(fields[name]) for name in ("player_to", "subject", "mail_body")]
        rules = self._world.rules
        # Every letter asks the store for its recipient, also one that is refused.
        if not player.limits.may_use(Cost.CHANGE, (rules.change_rate, rules.change_burst), now):
            self._world.count("command too soon")
            self._answer(player, SendResult.FAILED, texts[0])
            return
        self._world.start(self._send_from_window(player, Draft.of(*texts), now))

    async def _send_from_window(self, player: Player, draft: Draft, now: Monotonic) -> None:
        result, to = SendResult.SENT, draft.to
        try:
            to = await self.send(player, draft, now)
        except EmuError as error:
            result = error.result if isinstance(error, NotSent) else SendResult.FAILED
            self._line(player, public_text(error))
        self._answer(player, result, to)

    @staticmethod
    def _answer(player: Player, result: SendResult, to: str) -> None:
        if player.is_online:
            player.client.send("WS_MailSendMessageReply", {"reply_type": result, "player_to": to})

    # -- coins in the window --------------------------------------------------------------------

    def open_window(self, player: Player) -> None:
        """Open the player's mail window, at its target if it has one."""
        self._parcels.release(player)
        spot = player.target if player.target is not None else player.spawn
        index = player.index_of(spot)
        player.mail = MailWindow(index if index is not None else 0)

    def attach(self, player: Player, kind: str, count: int) -> str:
        """Add coins to the letter in the window, or remove them; return the line about it.

        The window is sent after the line (recorded). Raises `CommandError`.
        """
        window = player.mail
        if window is None:
            raise CommandError("open your mailbox first")
        coins = window.coins + count * COINS[kind]
        if coins < 0:
            raise CommandError("there are not so many coins in the mail window")
        price = self.price(player, has_thing=bool(window.thing))
        if count > 0 and coins + price > player.character.coins:
            raise CommandError("you do not have that many coins")
        window.coins = coins
        done, to = ("add", "to") if count >= 0 else ("remove", "from")
        return f"You {done} {abs(count)} {COIN_NAMES[kind]} {to} the mail window."

    def attach_thing(self, player: Player, place: int, count: int) -> None:
        """Add so many of the thing of a place to the letter in the window.

        Raises `CommandError`.
        """
        window = player.mail
        if window is None:
            raise CommandError("open your mailbox first")
        if window.coins + self.price(player, has_thing=True) > player.character.coins:
            raise CommandError("you do not have enough coins; a thing costs postage as well")
        self._parcels.attach(player, window, place, count)
        self._send_window(player, window)
        self._parcels.show_locks(player)

    def show_window(self, player: Player) -> None:
        """Send the window with what is attached to the letter in it."""
        if player.mail is not None:
            self._send_window(player, player.mail)

    def clear_window(self, player: Player) -> None:
        """Remove what is attached to the letter in the window."""
        had_thing = self._parcels.release(player)
        if player.mail is not None and (player.mail.coins or had_thing):
            player.mail.coins = 0
            self._send_window(player, player.mail)

    def close_window(self, player: Player) -> str:
        """Close the window; return the line about it, empty if a letter was sent (recorded)."""
        self.clear_window(player)
        window, player.mail = player.mail, None
        return CANCELLED if window is not None and not window.has_sent else ""

    def _forget_window(self, player: Player) -> None:
        """Forget the window of a player whose client shows it no more."""
        self._parcels.release(player)
        player.mail = None

    def _send_window(self, player: Player, window: MailWindow, action: int = CHANGED) -> None:
        shown: dict[str, Any] = {"action": action}
        if action == CHANGED:
            shown |= _coins_of(window.coins) | self._parcels.in_window(player, window)
        else:
            shown |= no_item_fields(player)
        player.client.send("WS_UpdatePlayerMail", shown)

    # -- reading --------------------------------------------------------------------------------

    async def mailbox(self, player: Player) -> CharacterMailbox:
        """Return the player's mailbox. Raises `StoreError`."""
        found = await self._store.open(
            player.character.account_id, player.id, self.postage, self._world.clock.moment()
        )
        self._has(found.balance)
        await self._parcels.load_kinds(found.letters)
        return found

    async def show_box(self, player: Player) -> bool:
        """Send the player's client its mailbox; return False if its version has no such window.

        Raises `StoreError`.
        """
        return self._send_box(player, (await self.mailbox(player)).letters)

    async def open_letter(self, player: Player, letter_id: int) -> Letter:
        """Return a letter, which is read now. Raises `CommandError` and `StoreError`."""
        letter = await self._store.mark_read(player.id, letter_id)
        if letter is None:
            raise _no_letter(letter_id)
        await self._parcels.load_kinds([letter])
        return letter

    async def show_letter(self, player: Player, letter_id: int) -> None:
        """Open a letter in the player's window. Raises `CommandError` and `StoreError`."""
        letter = await self.open_letter(player, letter_id)
        window = self._window(player)
        self._send_window(player, window, OPENED)
        # The box before the letter: clients close the letter when the box comes.
        if not letter.is_read:
            self._world.events.publish(LetterRead(player, letter.id))
            await self.show_box(player)
        player.client.send(
            "WS_MailGetMessage",
            {
                "kiosk_id": window.kiosk,
                "mail_id": letter.id,
                "player_to_id": letter.recipient_id,
                "player_from": letter.sender,
                "subject": subject_of(letter),
                "mail_body": letter.body,
                "unknown1": 1,
                "lock_report_button": 1,
                "unknown3": NEVER,
                "unknown3a": NEVER,
                **_coins_of(letter.coins),
                **self._parcels.fields(player, letter.thing),
            },
        )

    async def take(self, player: Player, letter_id: int) -> tuple[int, str]:
        """Move what is in a letter to the player; return the copper, and what else it was.

        Raises `CommandError` and `StoreError`.
        """
        letter = await self._emptied(player, letter_id)
        if isinstance(letter, Taken):
            self._has(letter.balance)
            return letter.copper, ""
        thing = letter.thing if letter is not None else None
        if letter is None or thing is None or not await self._parcels.take(player, letter, thing):
            raise _no_letter(letter_id)
        many = f"{thing.count} " if thing.count > 1 else ""
        return letter.coins, many + self._parcels.name_of(thing)

    def name_of(self, letter: Letter) -> str:
        """Return the name of the thing of a letter, empty without one."""
        return self._parcels.name_of(letter.thing) if letter.thing is not None else ""

    async def _emptied(self, player: Player, letter_id: int) -> Taken | Letter | None:
        """Move the coins of a letter to the player; return a letter with a thing instead."""
        account_id, moment = player.character.account_id, self._world.clock.moment()
        part = Part(Owner.letter(letter_id), Owner.character(player.id), 0)
        emptied = self._ledger.movement(Reason.TAKEN, [part], [account_id])
        return await self._ledger.carry_out(
            emptied,
            lambda: self._store.take_coins(
                account_id, player.id, letter_id, moment, emptied.request
            ),
        )

    async def delete(self, player: Player, letter_id: int) -> None:
        """Remove an empty letter. Raises `CommandError` and `StoreError`."""
        if await self._store.delete(player.id, letter_id):
            return
        letter = await self._store.find(player.id, letter_id)
        if letter is None:
            raise _no_letter(letter_id)
        what = "thing" if letter.thing is not None else "coins"
        raise CommandError(f"take the {what} of the letter first")

    async def clear(self, player: Player) -> int:
        """Remove the read letters that are empty; return their number. Raises `StoreError`."""
        return await self._store.clear(player.id)

    async def give_back(self, player: Player, letter_id: int) -> None:
        """Return a letter to its sender. Raises `CommandError` and `StoreError`."""
        moment = self._world.clock.moment()
        sender = await self._store.give_back(player.id, letter_id, self.postage, moment)
        if sender is None:
            raise CommandError(f"you have no letter {letter_id} that can go back to its sender")
        self._world.processes.bus.publish(ARRIVED, {"char_id": sender})

    async def find(self, player: Player, letter_id: int) -> Letter:
        """Return a letter of the player. Raises `CommandError` and `StoreError`."""
        letter = await self._store.find(player.id, letter_id)
        if letter is None:
            raise _no_letter(letter_id)
        return letter

    async def of_character(self, char_id: int, account_id: int) -> Sequence[Letter]:
        """Return the letters of any character, for operators. Raises `StoreError`."""
        moment = self._world.clock.moment()
        found = await self._store.open(account_id, char_id, self.postage, moment)
        # Late coins may have come to it.
        self._has(found.balance)
        return found.letters

    def _window(self, player: Player) -> MailWindow:
        if player.mail is None:
            self.open_window(player)
        assert player.mail is not None  # noqa: S101  # just opened
        return player.mail

    def _send_box(self, player: Player, letters: Sequence[Letter]) -> bool:
        if not player.is_online:
            return False
        moment = self._world.clock.moment()
        rows: list[dict[str, Any]] = [
            {
                "mail_id": letter.id,
                "player_to_id": letter.recipient_id,
                "subject": subject_of(letter),
                "player_from": letter.sender,
                "already_read": int(letter.is_read),
                "mail_deletion": max(0, int(letter.expires - moment)),
                "mail_expire": NEVER,
                "unknown1a": NEVER,
                **_coins_of(letter.coins),
                **self._parcels.fields(player, letter.thing),
            }
            for letter in letters
        ]
        return player.client.send(
            "WS_GetMailHeader",
            {
                "kiosk_id": self._window(player).kiosk,
                "num_messages": len(rows),
                "message_array": rows,
                "postage_cost": self.price(player),
                "attachment_cost": 0 if player.rank else ATTACHMENT_COST,
                "unknown3": UNKNOWN,
            },
        )

    # -- notices --------------------------------------------------------------------------------

    def _arrived(self, note: Note) -> None:
        player = self._world.players.get(int(note["char_id"] or 0))
        if player is not None and player.is_online:
            self._line(player, UNREAD)
            player.client.send("WS_OnScreenMsg", POPUP)

    def _entered(self, event: LoggedIn) -> None:
        self._world.start(self._look_for_mail(event.player))

    async def _look_for_mail(self, player: Player) -> None:
        try:
            waiting = await self._store.waiting(player.id, self._world.clock.moment())
        except StoreError:
            # The player sees its mail when it opens the mailbox; entering must not depend on this.
            self._world.count("mail not counted")
            return
        if waiting:
            self._line(player, WAITING)

    def _line(self, player: Player, text: str) -> None:
        if player.is_online:
            self._chat.line(player, text, "narrative")

    def _has(self, balance: Balance | None) -> None:
        if balance is not None:
            self._ledger.learn([balance])


def subject_of(letter: Letter) -> str:
    """Return the subject that is shown for a letter."""
    return f"Returned: {letter.subject}" if letter.is_returned else letter.subject


def _coins_of(copper: int) -> dict[str, int]:
    """Return the fields of an amount in the messages of mail."""
    # The character sheet has the same numbers in fields of other names.
    return {name.replace("coins_", "coin_"): n for name, n in coin_fields(copper).items()}


def _refusal(result: SendResult, **values: object) -> NotSent:
    return NotSent(result, TEXTS[result].format(**values))


def _no_letter(letter_id: int) -> CommandError:
    return CommandError(f"you have no letter {letter_id}")
