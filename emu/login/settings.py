"""Settings and limits of the login service as one frozen value; where they come from is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.throttle import Allowance
from emu.login.choices import Choices

NEW_WORLDS = Allowance(burst=10, refill=600.0)


@dataclass(frozen=True, slots=True)
class LoginServiceConfig:
    """Everything tunable of the client side of the login service. Times are seconds."""

    expansion_flag: int = 0x7CFF
    """Expansions told in the login reply; docs/protocol/login.md#accepted has the bits."""
    cities_flag: int = 0xFF
    """Starting cities, one bit each."""
    subscription_level: int = 0xFFFFFFFF
    enabled_races: int = 0xFFFF
    max_characters: int = 7
    """Characters an account may have, as told to clients above 561."""
    character_limit: int = 100
    """Characters of one account at which the server itself refuses more, unless `max_characters` is
    greater; a list counts its entries in one byte."""
    creations_per_hour: int = 20
    """Create requests of one account that are handed on to worlds."""
    logins_per_address: int = 32
    """Clients logged in at once from one IP address."""
    account_name_size: int = 31
    """Longest account name, in bytes on the wire."""
    password_size: int = 255
    """Longest password in bytes; more is refused before anything is hashed."""
    character_name_size: int = 63
    """Longest character name handed on to a world, in bytes."""
    denial_linger: float = 1.0
    """Time between a denial and the disconnect, so that the datagram leaves."""
    login_timeout: float = 60.0
    """Time a client has to log in once its session stands."""
    list_lifetime: float = 1800.0
    """Time a client that is logged in may send no application message; 0 is for ever."""
    play_timeout: float = 5.0
    create_timeout: float = 15.0
    create_memory: float = 120.0
    """Time an unanswered create request is kept so that a late answer still saves the character."""
    status_delay: float = 0.25
    """World status changes are collected this long before they are pushed."""
    zone_memory: float = 60.0
    """Time zone texts of a world are kept before they are read again."""
    waiting_messages: int = 64
    """Messages one client may have waiting while an earlier one is worked on."""
    waiting_before_login: int = 4
    """The same while it is not logged in."""
    client_log_bytes: int = 262_144
    """A client log is inflated no further than this."""
    client_logs: int = 16
    """Client logs stored for one session; further ones are counted and dropped."""
    choices: Choices = field(default_factory=Choices)


@dataclass(frozen=True, slots=True)
class DirectoryConfig:
    """What the directory lets in and how much; times are seconds."""

    server_versions: tuple[str, ...] = ("*",)
    """World program versions let in; ``*`` is any."""
    unregistered_worlds: bool = False
    """Let worlds in whose account nobody added, and add them."""
    new_worlds: Allowance = NEW_WORLDS
    """How many of those may come from one address (IPv6: from one /64 network)."""
    max_players: int = 5_000
    """Players a world may report; one more and it is dropped."""
    max_zones: int = 500
    status_record_interval: float = 60.0
    """Between two records of an unchanged status in the store."""
    waiting_updates: int = 2_048
    """Updates of one world that may wait for the store."""
    unanswered: int = 4_096
    """Play and create requests that one world may leave unanswered."""
    answer_memory: float = 120.0
    """Time an unanswered request is remembered, so that its late answer is still taken."""
