"""Settings of the built-in world: how much players may move, send, write and say."""

from __future__ import annotations

from typing import Final

from attrs import frozen

from emu.config.setting import setting
from emu.correspondence import MAIL_FULL
from emu.world.rules import ChatRules, WorldRules

# The world states its own defaults, so that it also runs without a configuration.
_WORLD: Final = WorldRules("Norrath")
_CHAT: Final = ChatRules()


# Without slots: a class with several bases that have them cannot be made.
@frozen(slots=False)
class WorldPlayerSettings:
    """What a world accepts from each player."""

    fastest_move: float = setting(
        _WORLD.movement.fastest,
        "Fastest movement on the ground that is accepted from a client. Walking is about 10.",
        unit="world units per second",
        limits=(1, 1000),
    )
    fastest_fall: float = setting(
        _WORLD.movement.fastest_fall,
        "Fastest movement up and down that is accepted from a client.",
        unit="world units per second",
        limits=(1, 10_000),
    )
    message_rate: float = setting(
        _WORLD.message_rate,
        "Messages that a client may send over time; walking needs about ten. The server"
        " disconnects a client that sends more.",
        unit="messages per second",
        limits=(20, 100_000),
        live=True,
    )
    message_burst: int = setting(
        _WORLD.message_burst,
        "Messages that a client may send without a pause.",
        unit="messages",
        limits=(100, 1_000_000),
        live=True,
    )
    listing_rate: float = setting(
        _WORLD.listing_rate,
        "Commands that list players or spawns, such as /who, around, complete and help, which a"
        " player may use over time. Further ones get an answer that asks the player to wait.",
        unit="commands per second",
        limits=(0.1, 1000),
    )
    listing_burst: int = setting(
        _WORLD.listing_burst,
        "Commands of that kind that a player may use without a pause.",
        unit="commands",
        limits=(1, 10_000),
    )
    shown_rate: float = setting(
        _WORLD.shown_rate,
        "Commands that change a player's appearance for others, such as /afk, which a player may"
        " use over time.",
        unit="commands per second",
        limits=(0.1, 1000),
    )
    shown_burst: int = setting(
        _WORLD.shown_burst,
        "Commands of that kind that a player may use without a pause.",
        unit="commands",
        limits=(1, 10_000),
    )
    change_rate: float = setting(
        _WORLD.change_rate,
        "Changes to its lists of friends and ignored players that a player may make over time.",
        unit="changes per second",
        limits=(0.1, 1000),
    )
    change_burst: int = setting(
        _WORLD.change_burst,
        "Changes of these lists that a player may make without a pause.",
        unit="changes",
        limits=(1, 10_000),
    )
    mail_postage: int = setting(
        _WORLD.mail_postage,
        "What a letter costs its sender. Game masters pay nothing.",
        unit="copper",
        limits=(0, 1_000_000),
        live=True,
    )
    mail_days: float = setting(
        _WORLD.mail_days,
        "How long a letter is kept. Then it goes back to its sender with its coins, or is removed"
        " if it has none.",
        unit="days",
        limits=(0.01, 3650),
        live=True,
    )
    mailbox_size: int = setting(
        _WORLD.mailbox_size,
        "Letters that a character's mailbox takes.",
        unit="letters",
        limits=(1, MAIL_FULL),
        live=True,
    )
    mails_per_hour: int = setting(
        _WORLD.mails_per_hour,
        "Letters that one account may send within an hour.",
        unit="letters",
        limits=(1, 10_000),
    )
    petitions_open: int = setting(
        _WORLD.petitions_open,
        "Open petitions and reports that one account may have.",
        unit="petitions",
        limits=(1, 1000),
        live=True,
    )
    petitions_daily: int = setting(
        _WORLD.petitions_daily,
        "Petitions and reports that one account may write within a day.",
        unit="petitions",
        limits=(1, 10_000),
        live=True,
    )
    chat_rate: float = setting(
        _CHAT.rate,
        "Chat messages that a player may send over time.",
        unit="messages per second",
        limits=(0.01, 100),
        live=True,
    )
    chat_burst: int = setting(
        _CHAT.burst,
        "Chat messages that a player may send without a pause.",
        unit="messages",
        limits=(1, 1000),
        live=True,
    )
    chat_length: int = setting(
        _CHAT.longest,
        "Length of a chat message; longer ones are cut.",
        unit="characters",
        limits=(1, 4000),
        live=True,
    )
    chat_backlog: int = setting(
        _CHAT.backlog,
        "Chat kept for a player whose connection is interrupted; later lines are lost.",
        unit="bytes",
        limits=(1024, 1 << 20),
        live=True,
    )
    say_distance: float = setting(
        _WORLD.hear,
        "Distance at which a say or an emote is heard.",
        unit="world units",
        limits=(1, 10_000),
        live=True,
    )
    channels: tuple[str, ...] = setting(
        ("General", "Auction", "Crafting"),
        "The world's chat channels, which players may join.",
        limits=(1, 32),
        most=100,
        live=True,
    )
