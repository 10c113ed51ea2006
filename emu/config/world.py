"""Settings of the built-in world server."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from emu.config.readers import CRC_SEED, FINGERPRINT_OR_NONE, HOST_OR_NONE, Address
from emu.config.setting import file_or_none, secret_text, setting
from emu.correspondence import MAIL_FULL
from emu.session import EndpointConfig
from emu.world.rules import (
    AdmissionRules,
    BehaviorRules,
    ChatRules,
    CreationRules,
    RecordRules,
    WorldRules,
    ZoneRules,
)

# The world states its own defaults, so that it also runs without a configuration.
_ENDPOINT: Final = EndpointConfig()
_WORLD: Final = WorldRules("Norrath")
_ZONE: Final = ZoneRules()
_CHAT: Final = ChatRules()
_LIMITS: Final = BehaviorRules()
_ADMISSION: Final = AdmissionRules()
_CREATION: Final = CreationRules()
_RECORD: Final = RecordRules()


@frozen
class WorldConfig:
    """``[world]``: the built-in world server."""

    enabled: bool = setting(True, "Run a world in this process.")
    name: str = setting(
        _WORLD.name, "The world's name in the list that players choose from.", limits=(4, 63)
    )
    listen: Address = setting(
        Address("127.0.0.1", 9001), "Listen here for game clients (UDP). Port 0: any free port."
    )
    advertise: str | None = setting(
        None,
        "Address that clients are sent to reach this world. Empty: the address of listen.",
        form=HOST_OR_NONE,
    )
    internal_address: str | None = setting(
        None,
        "Address that clients with a private IP address are sent instead.",
        form=HOST_OR_NONE,
    )
    crc_seed: int | None = setting(
        _ENDPOINT.check_key,
        'Check key of sessions: "random" for each session, or one number; see login.crc_seed.',
        form=CRC_SEED,
    )
    account: str = setting(
        "", "Account for the link to the login server. Empty: the built-in one.", limits=(0, 29)
    )
    password: str = secret_text(
        "Password for the link; also $EMU_WORLD_PASSWORD. Empty: the built-in one."
    )
    password_file: Path | None = file_or_none("File whose first line is the link's password.")
    login_servers: tuple[Address, ...] = setting(
        (), "Login servers to register with, in order. Empty: the one in this process.", most=8
    )
    login_tls_fingerprints: tuple[str, ...] = setting(
        (),
        "SHA-256 fingerprint of each login server's certificate; its link then uses TLS. Empty"
        " text: plain TCP for this one.",
        form=FINGERPRINT_OR_NONE,
        most=8,
    )
    locked: bool = setting(False, "Admit only game masters.", live=True)
    max_players: int = setting(
        _ADMISSION.max_players,
        "Players at the same time. -1: no limit.",
        unit="players",
        limits=(-1, 5000),
        live=True,
    )
    entries_at_once: int = setting(
        _ADMISSION.entries_at_once,
        "How many times an account may enter without a pause. Further entries are refused until"
        " entries_per_minute allows one.",
        unit="entries",
        limits=(1, 1_000_000),
        live=True,
    )
    entries_per_minute: float = setting(
        _ADMISSION.entries_per_minute,
        "How often an account may enter over time.",
        unit="entries per minute",
        limits=(0.1, 1_000_000),
        live=True,
    )
    address_entries_at_once: int = setting(
        _ADMISSION.address_entries_at_once,
        "How many repeated entries one IP address may make without a pause. The first entry of an"
        " account in ten minutes does not count.",
        unit="entries",
        limits=(1, 1_000_000),
        live=True,
    )
    address_entries_per_minute: float = setting(
        _ADMISSION.address_entries_per_minute,
        "How often accounts may enter again from one IP address over time.",
        unit="entries per minute",
        limits=(0.1, 1_000_000),
        live=True,
    )
    creations_per_hour: int = setting(
        _CREATION.creations_per_hour,
        "How many characters one account may create, with those deleted since.",
        unit="characters per hour",
        limits=(1, 100_000),
    )
    max_level: int = setting(
        _WORLD.max_level, "Highest level of a character.", unit="level", limits=(1, 255)
    )
    name_filter: tuple[str, ...] = setting(
        (), "Words that no name of a character or a pet may contain.", limits=(1, 31), most=10_000
    )
    motd: str = setting(
        _WORLD.motd, "Message that players are shown when they enter.", limits=(0, 500), live=True
    )
    link_dead: float = setting(
        _WORLD.link_dead,
        "How long a player stays in the world after its client is gone.",
        unit="seconds",
        limits=(0, 3600),
        live=True,
    )
    camp_seconds: float = setting(
        _WORLD.camp,
        "Time from /camp until the player leaves the world.",
        unit="seconds",
        limits=(0, 255),
        live=True,
    )
    save_seconds: float = setting(
        _WORLD.save_interval,
        "Time between two saves of a player's place.",
        unit="seconds",
        limits=(1, 3600),
        live=True,
    )
    review_seconds: float = setting(
        _WORLD.review,
        "Time between two checks of the stored bans, ranks, names and mutes of players.",
        unit="seconds",
        limits=(0.1, 60),
        live=True,
    )
    save_retry: float = setting(
        _WORLD.save_retry,
        "Longest time between two attempts to save a player while the database fails. The first"
        " repetition comes after one second.",
        unit="seconds",
        limits=(1, 3600),
        live=True,
    )
    update_rate: float = setting(
        1 / _ZONE.tick,
        "How often players are sent what moved or changed near them.",
        unit="updates per second",
        limits=(1, 50),
    )
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
    ledger_days: float = setting(
        _WORLD.ledger_days,
        "How long the ledger keeps the entries of movements of coins. Those of the last day are"
        " always kept. Balances do not depend on them.",
        unit="days",
        limits=(1, 36_500),
        live=True,
    )
    ledger_entries: int = setting(
        _WORLD.ledger_entries,
        "About how many entries the ledger keeps; one needs about 200 bytes of the database.",
        unit="entries",
        limits=(1000, 1_000_000_000),
        live=True,
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
    script_share: float = setting(
        0.05,
        "CPU time that the timers of one Lua script may use over time; what is late waits.",
        unit="of one core",
        limits=(0.001, 1),
    )
    scripts_share: float = setting(
        0.2,
        "CPU time that the timers of all Lua scripts together may use over time.",
        unit="of one core",
        limits=(0.001, 1),
    )
    behaviors: Path | None = file_or_none(
        "Folder of Python files with behaviors of spawns and zones. They run in the server process."
        " Empty: none.",
    )
    behavior_seconds: float = setting(
        _LIMITS.budget,
        "Longest CPU time of one call of a behavior. A behavior that needs more is switched off.",
        unit="seconds",
        limits=(0.01, 10),
        live=True,
    )
    behavior_share: float = setting(
        _LIMITS.share,
        "CPU time that one behavior may use over time; calls above it are skipped.",
        unit="of one core",
        limits=(0.001, 1),
        live=True,
    )
    behavior_rate: float = setting(
        _LIMITS.say_rate,
        "Messages that one behavior may say aloud over time, and as many to each player.",
        unit="messages per second",
        limits=(0.1, 1000),
        live=True,
    )
    behavior_burst: int = setting(
        _LIMITS.say_burst,
        "Messages that one behavior may say aloud without a pause, and as many to each player.",
        unit="messages",
        limits=(1, 1000),
        live=True,
    )
    behavior_hear_rate: float = setting(
        _LIMITS.hear_rate,
        "Messages that all behaviors together may send to one player over time.",
        unit="messages per second",
        limits=(0.1, 1000),
        live=True,
    )
    behavior_hear_burst: int = setting(
        _LIMITS.hear_burst,
        "Messages that all behaviors together may send to one player without a pause.",
        unit="messages",
        limits=(1, 1000),
        live=True,
    )
    actor_failures: int = setting(
        _ZONE.actor_failures,
        "Pause a spawn, or a player's view of its zone, after this many failures in a row.",
        unit="failures",
        limits=(1, 1000),
    )
    actor_pause: float = setting(
        _ZONE.actor_pause,
        "How long that pause lasts.",
        unit="seconds",
        limits=(0.1, 3600),
    )
    stalled_failures: int = setting(
        _ZONE.stalled_failures,
        "/readyz reports a zone after this many failures of its tick in a row.",
        unit="failures",
        limits=(1, 1000),
    )
    stalled_after: float = setting(
        _ZONE.stalled_after,
        "/readyz reports a zone when its tick is this late.",
        unit="seconds",
        limits=(0.5, 600),
    )
    knowledge: Path | None = file_or_none(
        "Folder of files with skills, languages and titles, read after the shipped ones. Empty:"
        " none."
    )
    content: Path | None = file_or_none(
        "Content file that `emu content import` has made; its zones are below those of `zones`, and"
        " its rules are the defaults of other settings. Empty: none."
    )
    items: Path | None = file_or_none(
        "TOML file with things of your own, and with changes of things of `content`. Empty: none."
    )
    spells: Path | None = file_or_none(
        "TOML file with spells of your own, and with other forms of spells of `content`. Empty:"
        " none."
    )
    expansions: int = setting(
        0,
        "Bits of the expansions whose spawns of `content` stand; 0 lets those of all stand.",
        limits=(0, 0xFFFFFFFF),
    )
    holidays: int = setting(
        1,
        "Bits of the holidays whose spawns of `content` stand; 1 is an ordinary day, and 0 lets"
        " those of all stand.",
        limits=(0, 0xFFFFFFFF),
    )
    ground: str = setting(
        "keep",
        "Height of creatures that stand: keep has that of their row, unless it is under the ground;"
        " snap has the ground's, as EQ2Emulator's server does it.",
        choices=("keep", "snap"),
    )
    experience_rate: float = setting(
        _WORLD.experience_rate,
        "What the experience of each kill is multiplied by.",
        limits=(0.0, 1000.0),
        live=True,
    )
    vitality_gain: float = setting(
        _WORLD.vitality_gain,
        "How much more of a level, in percent, vitality doubles after each `vitality_seconds`.",
        limits=(0.0, 100.0),
        live=True,
    )
    vitality_seconds: float = setting(
        _WORLD.vitality_seconds,
        "Time after which players have more vitality, in the world or not.",
        limits=(1.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    temporary_seconds: float = setting(
        _WORLD.temporary_seconds,
        "Time away from the world after which a character has lost its temporary things.",
        limits=(0.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    death_debt: float = setting(
        _WORLD.death_debt,
        "Debt of experience for each death, in percent of a level; half of each gain pays it.",
        limits=(0.0, 100.0),
        live=True,
    )
    debt_recovery: float = setting(
        _WORLD.debt_recovery,
        "Percent of the debt that players are forgiven after each `debt_seconds`.",
        limits=(0.0, 100.0),
        live=True,
    )
    debt_seconds: float = setting(
        _WORLD.debt_seconds,
        "Time after which players are forgiven some of their debt, in the world or not.",
        limits=(1.0, 31_536_000.0),
        unit="s",
        live=True,
    )
    spirit_shards: bool = setting(
        _WORLD.spirit_shards,
        "A spirit shard stays where a player dies; who recovers it gets most of the debt back.",
        live=True,
    )
    shard_recovery: float = setting(
        _WORLD.shard_recovery,
        "Percent of a death's debt that its spirit shard gives back.",
        limits=(0.0, 100.0),
        live=True,
    )
    leash: float = setting(
        _WORLD.leash,
        "How far creatures hunt, from where they stood, before they give up.",
        limits=(1.0, 32_000.0),
        live=True,
    )
    reach: float = setting(
        _WORLD.reach,
        "How far a blow reaches beyond the radii of both sides.",
        limits=(0.0, 100.0),
        live=True,
    )
    faction_fights: bool = setting(
        _WORLD.faction_fights,
        "Creatures attack creatures of factions that are hostile to theirs.",
        live=True,
    )
    aggro_needs_view: bool = setting(
        _WORLD.aggro_needs_view,
        "Creatures begin to attack only those to whom they have a line of sight, as maps show it."
        " false: whoever is near enough, as with EQ2Emulator's server.",
        live=True,
    )
    classic_spell_levels: bool = setting(
        _WORLD.classic_spell_levels,
        "Classes learn spells at the classic levels of the content file, which may lie within a"
        " level. false: at its newer levels.",
        live=True,
    )
    falls_hurt: bool = setting(
        _WORLD.falls_hurt,
        "Falls and drowning, which clients report, hurt players.",
        live=True,
    )
    kept_casts: float = setting(
        _WORLD.kept_casts,
        "Percent of the hits that do not interrupt a cast; the skill Focus adds to it.",
        limits=(0.0, 100.0),
        live=True,
    )
    fizzles: bool = setting(
        _WORLD.fizzles, "Casts can fail if the skill for the spell is low.", live=True
    )
    fizzle_percent: float = setting(
        _WORLD.fizzle_percent,
        "Percent of casts that fail for each whole requirement below `fizzle_skill`.",
        limits=(0.0, 100.0),
        live=True,
    )
    fizzle_skill: float = setting(
        _WORLD.fizzle_skill,
        "How many times the skill that a spell asks for never fails.",
        limits=(0.0, 100.0),
        live=True,
    )
    strength_points: int = setting(
        _WORLD.strength_points,
        "Points of strength that add one to the damage of a player's blows.",
        limits=(1, 10_000),
        live=True,
    )
    creature_strength_points: int = setting(
        _WORLD.creature_strength_points,
        "Points of strength that add one to the damage of a creature's blows.",
        limits=(1, 10_000),
        live=True,
    )
    scripts: Path | None = file_or_none(
        "Folder of EQ2Emulator's Lua scripts, which the spawns of `content` name. Needs the package"
        " lupa. Empty: none."
    )
    watch_scripts: bool = setting(
        False, "Read changed Lua scripts anew within a second, for authors of scripts."
    )
    record: bool = setting(
        False,
        "Keep the last minutes of each running zone in memory. A player's report of a fault, and"
        " the command `zone record`, write them to a file that `emu replay` plays.",
    )
    record_seconds: float = setting(
        _RECORD.seconds,
        "How much of each zone is kept.",
        unit="seconds",
        limits=(10, 3600),
    )
    recordings: Path | None = file_or_none(
        "Folder of these files. Empty: `recordings` beside the database."
    )
    zones: Path | None = file_or_none(
        "Folder of zone files that add to the shipped ones or replace them. Empty: none."
    )
