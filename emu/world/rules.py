"""Rules of the world with their defaults; the shell fills them from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from emu.commands.registry import GUIDE, MASTER
from emu.facts import FARTHEST
from emu.versions import CLIENT_2006, LAST_OLD_CLIENT


@dataclass(frozen=True, slots=True)
class MovementRules:
    """Limits of the steps that are believed. Walking is about 10 units a second.

    Source: docs/protocol/world/movement.md#speed.
    """

    fastest: float = 30.0
    """Units a second on the ground."""
    fastest_fall: float = 120.0
    """Units a second up or down."""
    reserve: float = 2.0
    """Seconds of movement that may arrive at once, after a pause of the link."""
    farthest: float = FARTHEST
    """Largest coordinate."""
    fastest_field: float = 127.0
    """Largest speed in a client's message."""


@dataclass(frozen=True, slots=True)
class ZoneRules:
    """Distances in world units, times in seconds (docs/protocol/world/spawns.md#visibility)."""

    create_distance: float = 250.0
    destroy_distance: float = 300.0
    interest_step: float = 12.5
    """Distance that a spawn moves before its observers are determined again."""
    tick: float = 1 / 11
    """Seconds between two rounds of updates.

    Not 0.1: the round itself and its sending take 5 ms of a crowd of 50, and a step is to be seen
    by all within 100 ms.
    """
    spawn_limit: int = 20_000
    actor_failures: int = 3
    """Failures in a row after which a spawn, or a player's view of the zone, is paused."""
    actor_pause: float = 30.0
    """Length of the pause."""
    stalled_failures: int = 3
    """Failures of its tick in a row after which a zone is reported as stalled."""
    stalled_after: float = 5.0
    """How late a tick may come before its zone is reported as stalled."""
    longest_retry: float = 5.0
    """Longest time from a tick that failed to the next one."""


@dataclass(frozen=True, slots=True)
class ChatRules:
    """Limits of chat."""

    longest: int = 512
    """Characters of one message; a longer message is cut."""
    burst: int = 10
    """Messages at once."""
    rate: float = 1.0
    """Messages a second over time."""
    backlog: int = 65_536
    """Bytes of lines that may wait for a client whose link is full; later lines are dropped."""
    channels: tuple[str, ...] = ()
    """The world's own channels."""


@dataclass(frozen=True, slots=True)
class BehaviorRules:
    """Limits of one behavior."""

    budget: float = 0.25
    """Seconds of one call."""
    share: float = 0.05
    """Share of one core that one behavior may use over time."""
    reserve: float = 0.5
    """Seconds of work that one behavior may use at once; `share` refills them."""
    shortest_timer: float = 0.1
    longest_timer: float = 31_536_000.0
    """Seconds of the longest timer, and of the longest time between two ticks: a year."""
    timers: int = 16
    """Timers of one behavior."""
    timer_name: int = 64
    """Letters of a timer's name."""
    text: int = 1024
    """Letters of one text; a longer text is cut."""
    lines: int = 20
    """Lines of one text that a player is shown at once; the rest is dropped."""
    choices: int = 16
    """Answers of one dialog."""
    dialogs: int = 16
    """Dialogs that one player may have open; a further one closes the oldest."""
    say_rate: float = 5.0
    """Messages a second, over time, that one behavior says aloud, and as many to each player."""
    say_burst: int = 20
    """Messages that one behavior may say at once, and as many to each player."""
    hear_rate: float = 20.0
    """Messages a second over time that one player is sent by all behaviors together."""
    hear_burst: int = 60
    """Messages that one player may be sent at once by all behaviors together."""
    longest_way: int = 64
    """Points of one way."""
    memory: int = 4096
    """Bytes of the memory of one spawn, as JSON."""
    visitor_memory: int = 1024
    """Bytes of what a spawn remembers of one visitor, as JSON."""
    visitors: int = 2000
    """Visitors that one spawn remembers; a further one replaces the one unchanged longest."""
    memory_pause: float = 2.0
    """Seconds from a change of a memory until it is stored."""


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """Limits of zone entry, and the ranks (`admin_status`) that pass them."""

    game_master: int = MASTER
    """From this rank on, an account may play two characters at once."""
    locked_override: int = GUIDE
    full_override: int = MASTER
    max_players: int = -1
    """Players at once; a negative number is no limit."""
    entries_at_once: int = 20
    """Entries of an account at once."""
    entries_per_minute: float = 20.0
    """The same a minute, over time."""
    address_entries_at_once: int = 60
    """Repeated entries of accounts from one address at once; each account's first is free."""
    address_entries_per_minute: float = 60.0
    """The same a minute, over time."""


@dataclass(frozen=True, slots=True)
class CreationRules:
    """Rules for new characters."""

    commoner_up_to: int = CLIENT_2006
    """Characters of clients up to this version begin as commoners (class 0) whatever they request.

    EQ2Emulator does so because the 2006 client chooses its class in the game; 0 turns it off.
    """
    signed_colors_up_to: int = LAST_OLD_CLIENT
    """Clients up to this version have colors in signed bytes."""
    bare_requests: tuple[int, int] = (CLIENT_2006, LAST_OLD_CLIENT)
    """First and last client version whose request may have the bare form."""
    first_level: int = 1
    max_characters: int = 100
    """Characters of one account."""
    creations_per_hour: int = 20
    """Characters that one account may create, deleted ones included."""


@dataclass(frozen=True, slots=True)
class WorldRules:
    """Settings of a world; times in seconds, distances in world units."""

    name: str
    motd: str = ""
    max_level: int = 50
    name_filter: tuple[str, ...] = ()
    """Words that no name may contain."""
    link_dead: float = 120.0
    """How long a link-dead player stays."""
    camp: float = 20.0
    camp_game_master: float = 1.0
    game_master: int = MASTER
    """From this `admin_status` on a character is a game master."""
    save_interval: float = 60.0
    review: float = 1.0
    """Seconds between two checks of the stored bans, ranks, names and mutes of players."""
    save_retry: float = 5.0
    """Longest time between two attempts of a save that fails."""
    hear: float = 30.0
    """How far a say is heard."""
    experience_rate: float = 1.0
    """What the experience of each kill is multiplied by."""
    vitality_gain: float = 0.5
    """Percent of a level that vitality doubles more after each `vitality_seconds`."""
    temporary_seconds: float = 1800.0
    """Time away from the world after which a character has lost its temporary things."""
    vitality_seconds: float = 3600.0
    death_debt: float = 0.5
    """Percent of a level that a death adds to the debt of experience."""
    debt_recovery: float = 0.5
    """Percent of the debt that each `debt_seconds` take away."""
    debt_seconds: float = 600.0
    spirit_shards: bool = True
    """Whether a shard stays where a player dies."""
    shard_recovery: float = 90.0
    """Percent of a death's debt that the shard gives back."""
    leash: float = 80.0
    """How far a creature hunts, from where it stood."""
    reach: float = 4.0
    """How far a blow reaches beyond the radii of both sides."""
    faction_fights: bool = True
    """Whether creatures attack those of hostile factions."""
    equip_in_fights: bool = True
    """Whether players may change what they wear while they fight."""
    aggro_needs_view: bool = True
    """Whether creatures leave those in peace to whom they have no line of sight."""
    classic_spell_levels: bool = True
    """Whether classes learn spells at their classic levels, which may lie within a level."""
    falls_hurt: bool = True
    """Whether falls and drowning hurt players."""
    kept_casts: float = 65.0
    """Percent of the hits that do not interrupt a cast, without the skill Focus."""
    fizzles: bool = True
    """Whether casts can fail by a low skill."""
    fizzle_percent: float = 10.0
    """Percent of casts that fail for each whole requirement below `fizzle_skill`."""
    fizzle_skill: float = 1.2
    """How many times the skill that a spell asks for never fails."""
    fizzle_least: float = 0.2
    """How many times the skill that a spell asks for counts at least."""
    mastery_points: int = 25
    """Points of a spell's mastery skill that add a percent to its chance to land."""
    loot_reach: float = 5.0
    """From how far players loot a body or a chest."""
    strength_points: int = 10
    """Points of strength that add one to the damage of a player's blows."""
    creature_strength_points: int = 10
    """The same for creatures."""
    message_rate: float = 100.0
    """Messages a second that a client may send over time; walking takes about ten."""
    message_burst: int = 1000
    """Messages at once, after a pause of the link."""
    listing_rate: float = 5.0
    """Commands a second, over time, that list players or spawns."""
    listing_burst: int = 30
    """Such commands at once."""
    shown_rate: float = 1.0
    """Commands a second, over time, that change a player's appearance for its observers."""
    shown_burst: int = 10
    """Such commands at once."""
    change_rate: float = 20.0
    """Changes a second, over time, of a player's own lists, such as its friends."""
    change_burst: int = 150
    """Such changes at once: more than a list has entries."""
    mail_postage: int = 10
    """Copper that a letter costs."""
    mail_days: float = 30.0
    """Days until a letter goes back to its sender, or is removed."""
    mailbox_size: int = 100
    """Letters of one mailbox."""
    mails_per_hour: int = 30
    """Letters that one account may send within an hour."""
    ledger_days: float = 180.0
    """Days for which the ledger keeps its entries."""
    ledger_entries: int = 1_000_000
    """Entries that the ledger keeps at most."""
    petitions_open: int = 5
    """Open petitions of one account."""
    petitions_daily: int = 20
    """Petitions that one account may open within a day."""
    movement: MovementRules = field(default_factory=MovementRules)
    zones: Mapping[int, WorldRules] = field(default_factory=dict)
    """The rules of zones with settings of their own, by number."""

    def in_zone(self, zone_id: int) -> WorldRules:
        """Return the rules for the players of a zone."""
        return self.zones.get(zone_id, self)


@dataclass(frozen=True, slots=True)
class RecordRules:
    """Whether zones are recorded, and for how long."""

    is_on: bool = False
    seconds: float = 300.0
    """The time that is kept of each zone."""
