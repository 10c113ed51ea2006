"""Functions for speech, spoken lines, lines of text, conversations and letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from emu.scripts.signatures import FunctionTable, Handle, HandleKind
from emu.world.actors.player import Player
from emu.world.conversations import DialogPage, Shown
from emu.world.events import SpawnSpoke
from emu.world.minds.nearness import distance_between
from emu.world.scripts.bodies import Body, shown
from emu.world.scripts.host import Scripts
from emu.world.scripts.item_events import HeldItem
from emu.world.social.mail import Draft
from emu.world.speech.spoken import SpokenLine, play_line
from emu.world.spells.living import LivingSpell

TALK: Final = FunctionTable()
HEARD: Final = 30.0
"""Distance in which a spawn is heard, unless a script says another."""
FARTHEST: Final = 1000.0
_SPEECH: Final = "S speaker, t text, P player?, f distance=30, n language?"
_COLORS: Final = (("red", 3), ("yellow", 5))
"""Beginnings of the names of colors, with the client's number of each."""
_NARRATIVE: Final = 12
_WINDOWS: Final[Mapping[int, Shown]] = {1: Shown.NOBODY, 3: Shown.ONESELF}
"""The types of `StartDialogConversation` for spawns."""
_ITEM_WINDOWS: Final[Mapping[int, Shown]] = {2: Shown.NOBODY, 4: Shown.ONESELF}
"""Those for things of the player."""


def hearers_of(
    scripts: Scripts, speaker: Body, player: Body | None, distance: float = HEARD
) -> list[Player]:
    """Return one player, or all who are near a spawn."""
    if player is not None:
        players = [player.player] if player.player is not None else []
    else:
        players = scripts.players_in(speaker.home)
    return [one for one in players if distance_between(one.spawn, speaker.spawn) <= distance]


def viewers_of(scripts: Scripts, spawn: Body, player: Body | None) -> list[Player]:
    """Return one player, or all of a zone, if their clients have a spawn; at any distance."""
    if player is not None:
        players = [player.player] if player.player is not None else []
    else:
        players = scripts.players_in(spawn.home)
    return [one for one in players if one.index_of(spawn.spawn) is not None]


def _say(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    language: int, channel: str, to: str | None = None,
) -> None:  # fmt: skip
    spell = scripts.subject
    if speaker is None or not text or (isinstance(spell, LivingSpell) and spell.is_silent):
        return
    distance = min(distance, FARTHEST)
    hearers = hearers_of(scripts, speaker, player, distance)
    if hearers and scripts.may_send():
        scripts.chat.spawn_says(
            speaker.spawn, hearers, shown(text), channel,
            distance=distance, to=to, language=language,
        )  # fmt: skip


@TALK("Say", _SPEECH)
def say(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    language: int,
) -> None:  # fmt: skip
    """Say something to a player, or to all who are near."""
    _say(scripts, speaker, text, player, distance, language, "say")


@TALK("Shout", _SPEECH)
def shout(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    language: int,
) -> None:  # fmt: skip
    """Shout something to a player, or to all who are near."""
    _say(scripts, speaker, text, player, distance, language, "shout")


@TALK("SayOOC", _SPEECH)
def say_out_of_character(
    scripts: Scripts, speaker: Body | None, text: str, player: Body | None, distance: float,
    language: int,
) -> None:  # fmt: skip
    """Say something out of character to a player, or to all who are near."""
    _say(scripts, speaker, text, player, distance, language, "ooc")


@TALK("Emote", "S speaker, t text, S to?, P player?")
def emote(
    scripts: Scripts, speaker: Body | None, text: str, to: Body | None, player: Body | None
) -> None:
    """Show an emote in words to a player, or to all who are near."""
    name = None if to is None else to.spawn.name
    _say(scripts, speaker, text, player, HEARD, 0, "emote", name)


@TALK(
    "PlayFlavor",
    "S speaker, t voice, t text, t gesture, u key1, u key2, P player?, n language?",
)
def play_flavor(
    scripts: Scripts, speaker: Body | None, voice: str, text: str, gesture: str, key1: int,
    key2: int, player: Body | None, language: int,
) -> None:  # fmt: skip
    """Speak a line with a sound file and a gesture, to a player or to all who are near."""
    if speaker is None:
        return
    hearers = (
        hearers_of(scripts, speaker, None) if player is None
        else viewers_of(scripts, speaker, player)
    )  # fmt: skip
    if hearers and scripts.may_send():
        line = SpokenLine(shown(text), shown(voice), (key1, key2), shown(gesture), language)
        scripts.world.events.publish(SpawnSpoke(spawn=speaker.spawn, text=line.text))
        play_line(speaker.spawn, hearers, line, scripts.world.knowledge)


@TALK("PlayFlavorID", "S speaker, n kind, u id, n index, P player?, n language?")
def play_flavor_row(
    scripts: Scripts, speaker: Body | None, kind: int, number: int, index: int,
    player: Body | None, language: int,
) -> None:  # fmt: skip
    """Speak a line of the content file; who lacks the language hears its garbled form."""
    voices = scripts.figures.voices
    row = voices.get((kind, number, index))
    if row is None or speaker is None:
        return
    garbled = next(
        (one for (*key, _), one in voices.items()
         if key == [kind, number] and one["is_garbled"] and one["garbled_link"] == index), row,
    )  # fmt: skip
    hearers = (
        hearers_of(scripts, speaker, None) if player is None
        else viewers_of(scripts, speaker, player)
    )  # fmt: skip
    knowledge = scripts.world.knowledge
    for hearer in hearers:
        if scripts.may_send():
            one = row if knowledge.understands(hearer.character, language) else garbled
            keys = (one["key1"], one["key2"])
            line = SpokenLine(one["text"], one["file"], keys, one["emote"], language)
            play_line(speaker.spawn, [hearer], line, knowledge)


@TALK("SendMessage", "P player, t text, t color?")
def send_message(scripts: Scripts, player: Body | None, text: str, color: str) -> None:
    """Show a player a line of text; the color is red, yellow, or a number of the client."""
    number = next((number for name, number in _COLORS if color.startswith(name)), _NARRATIVE)
    if color.isascii() and color.isdigit():
        number = int(color[:3])
    display_text(scripts, player, number, text)


@TALK("DisplayText", "P player, n color, t text")
def display_text(scripts: Scripts, player: Body | None, color: int, text: str) -> None:
    """Show a player a line of text in a color of the client, by its number."""
    if player is not None and player.player is not None and text and scripts.may_send():
        scripts.chat.colored_line(player.player, shown(text), color & 0xFF)


MOST_ANSWERS: Final = 32


@dataclass(slots=True)
class Conversation:
    """The answers that a script has prepared: text and function, which may be empty."""

    answers: list[tuple[str, str]] = field(default_factory=list)
    is_used: bool = False

    def add_answer(self, text: str, function: str) -> None:
        """Add an answer; one without a text is left out, and so are those beyond the last."""
        if text and len(self.answers) < MOST_ANSWERS:
            self.answers.append((text, function))


@TALK("CreateConversation")
def create_conversation(_scripts: Scripts) -> Handle:
    """Return an empty list of answers."""
    return Handle(HandleKind.CONVERSATION, Conversation(), is_lasting=False)


@TALK("AddConversationOption", "C conversation, t answer, t function?")
def add_option(
    _scripts: Scripts, conversation: Conversation | None, answer: str, function: str
) -> None:
    """Add an answer and the function that it calls; without one it closes the window."""
    if conversation is not None:
        conversation.add_answer(answer, function)


@TALK(
    "StartConversation",
    "C conversation, S speaker, P player, t text, t voice?, u key1?, u key2?, n language?,"
    " n closable=1",
)
def start_conversation(
    scripts: Scripts, conversation: Conversation | None, speaker: Body | None, player: Body | None,
    text: str, voice: str, key1: int, key2: int, language: int, closable: int,
) -> None:  # fmt: skip
    """Show a player a text and the answers; each list can be shown once."""
    if conversation is not None and conversation.answers:
        page = DialogPage(
            text=text, voice=voice, keys=(key1, key2), language=language,
            is_closable=bool(closable),
        )  # fmt: skip
        _start(scripts, conversation, speaker, player, page)


@TALK(
    "StartDialogConversation",
    "C conversation, n type, A speaker, P player, t text, t voice?, u key1?, u key2?,"
    " n language?, n closable=1",
)
def start_dialog(
    scripts: Scripts, conversation: Conversation | None, kind: int, speaker: Body | HeldItem | None,
    player: Body | None, text: str, voice: str, key1: int, key2: int, language: int, closable: int,
) -> None:  # fmt: skip
    """Show a text without a speaker (types 1 and 2), or as the player's own thoughts (3 and 4)."""
    is_item = isinstance(speaker, HeldItem)
    shown_as = (_ITEM_WINDOWS if is_item else _WINDOWS).get(kind)
    has_answers = conversation is not None and bool(conversation.answers)
    if shown_as is None or (is_item and not has_answers):
        return
    page = DialogPage(
        text=text, voice=voice, keys=(key1, key2), language=language,
        is_closable=bool(closable), speaker=shown_as,
    )  # fmt: skip
    _start(scripts, conversation or Conversation(), speaker, player, page)


def _start(
    scripts: Scripts, conversation: Conversation, speaker: Body | HeldItem | None,
    player: Body | None, page: DialogPage,
) -> None:  # fmt: skip
    if speaker is None or player is None or player.player is None:
        return
    if conversation.is_used or not page.text or not scripts.may_send():
        return
    conversation.is_used = True
    if isinstance(speaker, Body):
        scripts.talk(speaker, player.player, conversation.answers, page)
    elif speaker.player is player.player:
        scripts.items.talk(speaker, conversation.answers, page)


@TALK("CloseConversation", "S speaker, P player")
def close_conversation(scripts: Scripts, speaker: Body | None, player: Body | None) -> None:
    """Close the window of a talk."""
    if speaker is None or player is None or player.player is None or not scripts.may_send():
        return
    scripts.conversations.close(player.player, speaker)


@TALK("CloseItemConversation", "I item, P player")
def close_item_talk(scripts: Scripts, item: HeldItem | None, player: Body | None) -> None:
    """Close the window of a thing's talk."""
    if item is None or player is None or player.player is not item.player:
        return
    if scripts.may_send():
        scripts.conversations.close(item.player, item)


# -- letters --------------------------------------------------------------------------------------

_LETTER: Final = (
    "t sender, t subject, t text, n kind?, u copper?, u silver?, u gold?, u platinum?, u item?,"
    " u number?, u expires?, u sent?"
)
_WORTH: Final = (1, 100, 10_000, 1_000_000)
MOST_COINS: Final = 0xFFFFFFFF


def _send_letter(
    scripts: Scripts, char_id: int, sender: str, subject: str, text: str, coins: Sequence[int]
) -> bool:
    mail = scripts.mail
    if not sender or not scripts.may_send():
        return False
    copper = sum(count * worth for count, worth in zip(coins, _WORTH, strict=True))
    draft = Draft.of("", shown(subject), shown(text))

    return scripts.letters.send(
        char_id,
        partial(mail.deliver, char_id, shown(sender), draft, min(copper, MOST_COINS)),
    )


@TALK("AddPlayerMail", f"P player, {_LETTER}")
def send_letter(
    scripts: Scripts, body: Body | None, sender: str, subject: str, text: str, _kind: int,
    copper: int, silver: int, gold: int, platinum: int, *_item: int,
) -> bool:  # fmt: skip
    """Put a letter with coins into a player's mailbox, unless the same one lies there already."""
    if body is None or body.player is None:
        return False
    coins = (copper, silver, gold, platinum)
    return _send_letter(scripts, body.player.id, sender, subject, text, coins)


@TALK("AddPlayerMailByCharID", f"u character, {_LETTER}")
def send_letter_to(
    scripts: Scripts, char_id: int, sender: str, subject: str, text: str, _kind: int,
    copper: int, silver: int, gold: int, platinum: int, *_item: int,
) -> bool:  # fmt: skip
    """Put a letter with coins into the mailbox of a character by its number."""
    if not char_id:
        return False
    coins = (copper, silver, gold, platinum)
    return _send_letter(scripts, char_id, sender, subject, text, coins)
