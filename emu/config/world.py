"""Settings of the built-in world server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.config import readers
from emu.config.readers import Address
from emu.config.setting import file_or_none, secret_text, setting
from emu.session import EndpointConfig
from emu.world.rules import (
    AdmissionRules,
    BehaviorRules,
    ChatRules,
    CreationRules,
    WorldRules,
    ZoneRules,
)

# What the parts do when nobody says otherwise; such a default is stated there and shown here.
_ENDPOINT: Final = EndpointConfig()
_WORLD: Final = WorldRules("Norrath")
_ZONE: Final = ZoneRules()
_CHAT: Final = ChatRules()
_LIMITS: Final = BehaviorRules()
_ADMISSION: Final = AdmissionRules()
_CREATION: Final = CreationRules()


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """``[world]``: the built-in world server."""

    enabled: bool = setting(True, readers.boolean, "run a world in this process")
    name: str = setting(
        _WORLD.name, readers.text(4, 63), "name in the world list, over 3 characters"
    )
    listen: Address = setting(
        Address("127.0.0.1", 9001), readers.address, "UDP for clients; port 0 = any"
    )
    advertise: str | None = setting(
        None, readers.optional(readers.host), "address told to clients; empty = that of listen"
    )
    internal_address: str | None = setting(
        None, readers.optional(readers.host), "address told to clients with private addresses"
    )
    crc_seed: int | None = setting(
        _ENDPOINT.check_key,
        readers.crc_seed,
        '"random" for each session, or one number; see login.crc_seed',
    )
    account: str = setting("", readers.text(0, 29), "link account; empty = the built-in one")
    password: str = secret_text("link password, or $EMU_WORLD_PASSWORD; empty = the built-in one")
    password_file: Path | None = file_or_none("file whose first line is the link password")
    login_servers: tuple[Address, ...] = setting(
        (), readers.list_of(readers.address, 8), "login servers in order; empty = the one in here"
    )
    login_tls_fingerprints: tuple[str, ...] = setting(
        (),
        readers.list_of(readers.fingerprint_or_none, 8),
        'certificate of each login server, the link to it is then TLS; "" = plain TCP',
    )
    locked: bool = setting(False, readers.boolean, "let only game masters in")
    max_players: int = setting(
        _ADMISSION.max_players, readers.integer(-1, 5000), "players at once; -1 = no limit"
    )
    entries_at_once: int = setting(
        _ADMISSION.entries_at_once,
        readers.integer(1, 1_000_000),
        "times that an account may enter one after the other; one more is refused for a while",
    )
    entries_per_minute: float = setting(
        _ADMISSION.entries_per_minute,
        readers.number(0.1, 1_000_000),
        "times a minute that an account may enter over time",
    )
    address_entries_at_once: int = setting(
        _ADMISSION.address_entries_at_once,
        readers.integer(1, 1_000_000),
        "times that accounts may enter again from one IP address; the first entry of an account in"
        " ten minutes does not count",
    )
    address_entries_per_minute: float = setting(
        _ADMISSION.address_entries_per_minute,
        readers.number(0.1, 1_000_000),
        "the same over time, a minute",
    )
    creations_per_hour: int = setting(
        _CREATION.creations_per_hour,
        readers.integer(1, 100_000),
        "characters that one account may make, deleted ones too",
    )
    max_level: int = setting(_WORLD.max_level, readers.integer(1, 255), "highest character level")
    name_filter: tuple[str, ...] = setting(
        (), readers.list_of(readers.text(1, 31), 10_000), "words no character name may contain"
    )
    motd: str = setting(_WORLD.motd, readers.text(0, 500), "what players are greeted with")
    link_dead: float = setting(
        _WORLD.link_dead,
        readers.number(0, 3600),
        "seconds that a player stays whose client is gone",
    )
    camp_seconds: float = setting(
        _WORLD.camp, readers.number(0, 255), "seconds from camping to being out of the world"
    )
    save_seconds: float = setting(
        _WORLD.save_interval,
        readers.number(1, 3600),
        "seconds between two saves of a player's place",
    )
    review_seconds: float = setting(
        _WORLD.review,
        readers.number(0.1, 60),
        "seconds between two checks of the stored bans, ranks, names and mutes of players",
    )
    save_retry: float = setting(
        _WORLD.save_retry,
        readers.number(1, 3600),
        "most seconds between two tries to save a player while the database fails; the first"
        " comes after one second",
    )
    update_rate: float = setting(
        1 / _ZONE.tick, readers.number(1, 50), "times a second that players are shown what moved"
    )
    fastest_move: float = setting(
        _WORLD.movement.fastest,
        readers.number(1, 1000),
        "world units a second on the ground that a client is believed; walking is about 10",
    )
    fastest_fall: float = setting(
        _WORLD.movement.fastest_fall, readers.number(1, 10_000), "the same for going up and down"
    )
    message_rate: float = setting(
        _WORLD.message_rate,
        readers.number(20, 100_000),
        "messages a second that a client may send over time; one that sends more is sent away."
        " Walking takes about ten",
    )
    message_burst: int = setting(
        _WORLD.message_burst,
        readers.integer(100, 1_000_000),
        "messages that a client may send at once",
    )
    listing_rate: float = setting(
        _WORLD.listing_rate,
        readers.number(0.1, 1000),
        "commands a second that a player may use over time of those that make lists, such as who,"
        " around, complete and help; one more and the player is asked to wait",
    )
    listing_burst: int = setting(
        _WORLD.listing_burst,
        readers.integer(1, 10_000),
        "commands that make lists which a player may use at once",
    )
    shown_rate: float = setting(
        _WORLD.shown_rate,
        readers.number(0.1, 1000),
        "commands a second that a player may use over time of those that change how it looks to"
        " everybody near it, such as afk",
    )
    shown_burst: int = setting(
        _WORLD.shown_burst,
        readers.integer(1, 10_000),
        "commands of that kind which a player may use at once",
    )
    change_rate: float = setting(
        _WORLD.change_rate,
        readers.number(0.1, 1000),
        "changes a second that a player may make over time to its lists of friends and ignored"
        " ones",
    )
    change_burst: int = setting(
        _WORLD.change_burst,
        readers.integer(1, 10_000),
        "changes of these lists that a player may make at once",
    )
    chat_rate: float = setting(
        _CHAT.rate, readers.number(0.01, 100), "messages a second that a player may say over time"
    )
    chat_burst: int = setting(
        _CHAT.burst, readers.integer(1, 1000), "messages that a player may say at once"
    )
    chat_length: int = setting(
        _CHAT.longest, readers.integer(1, 4000), "letters of a message; what is longer is cut"
    )
    chat_backlog: int = setting(
        _CHAT.backlog,
        readers.integer(1024, 1 << 20),
        "bytes of chat kept for a player whose connection is interrupted; later lines are lost",
    )
    say_distance: float = setting(
        _WORLD.hear,
        readers.number(1, 10_000),
        "world units within which a say or an emote is heard",
    )
    channels: tuple[str, ...] = setting(
        ("General", "Auction", "Crafting"),
        readers.list_of(readers.text(1, 32), 100),
        "chat channels that players find in the world and may join",
    )
    behaviors: Path | None = file_or_none(
        "folder of Python files with behaviors of spawns and zones; they run in the server;"
        " empty = none",
    )
    behavior_seconds: float = setting(
        _LIMITS.budget,
        readers.number(0.01, 10),
        "seconds that one call of a behavior may work; one that needs more is switched off",
    )
    behavior_share: float = setting(
        _LIMITS.share,
        readers.number(0.001, 1),
        "part of one core that one behavior may use over time; calls above it are left out",
    )
    behavior_rate: float = setting(
        _LIMITS.say_rate,
        readers.number(0.1, 1000),
        "messages a second that one behavior may say over time, aloud and to each player",
    )
    behavior_burst: int = setting(
        _LIMITS.say_burst,
        readers.integer(1, 1000),
        "messages that one behavior may say at once, aloud and to each player",
    )
    behavior_hear_rate: float = setting(
        _LIMITS.hear_rate,
        readers.number(0.1, 1000),
        "messages a second that all behaviors together may send one player over time",
    )
    behavior_hear_burst: int = setting(
        _LIMITS.hear_burst,
        readers.integer(1, 1000),
        "messages that all behaviors together may send one player at once",
    )
    actor_failures: int = setting(
        _ZONE.actor_failures,
        readers.integer(1, 1000),
        "failures in a row after which a spawn, or a player's view of its zone, is paused",
    )
    actor_pause: float = setting(
        _ZONE.actor_pause,
        readers.number(0.1, 3600),
        "seconds that it is paused before it is tried again",
    )
    stalled_failures: int = setting(
        _ZONE.stalled_failures,
        readers.integer(1, 1000),
        "failures of its tick in a row after which /readyz reports a zone",
    )
    stalled_after: float = setting(
        _ZONE.stalled_after,
        readers.number(0.5, 600),
        "seconds that a zone's tick may be late before /readyz reports the zone",
    )
    knowledge: Path | None = file_or_none(
        "folder of files with skills, languages and titles, besides the shipped ones; empty = none"
    )
    zones: Path | None = file_or_none(
        "folder of zone files that add to the shipped ones or replace them; empty = none"
    )
