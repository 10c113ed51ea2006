"""Settings of the built-in world server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emu.config import readers
from emu.config.readers import Address
from emu.config.setting import file_or_none, secret_text, setting
from emu.session import EndpointConfig
from emu.world.rules import AdmissionRules, ChatRules, CreationRules, WorldRules, ZoneRules

# What the parts do when nobody says otherwise; such a default is stated there and shown here.
_ENDPOINT: Final = EndpointConfig()
_WORLD: Final = WorldRules("Norrath")
_ZONE: Final = ZoneRules()
_CHAT: Final = ChatRules()
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
    chat_rate: float = setting(
        _CHAT.rate, readers.number(0.01, 100), "messages a second that a player may say over time"
    )
    chat_burst: int = setting(
        _CHAT.burst, readers.integer(1, 1000), "messages that a player may say at once"
    )
    chat_length: int = setting(
        _CHAT.longest, readers.integer(1, 4000), "letters of a message; what is longer is cut"
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
    knowledge: Path | None = file_or_none(
        "folder of files with skills, languages and titles, besides the shipped ones; empty = none"
    )
    zones: Path | None = file_or_none(
        "folder of zone files that add to the shipped ones or replace them; empty = none"
    )
