"""Settings and limits of the login service, and its choices where the facts are uncertain.

The rule is to follow EQ2Emulator's login server, because every client in use has been
living with it. What a client could tell the difference of is a setting in `CompatibilityChoices`.

* **World status, two layouts under one opcode** (docs/protocol/login.md#world-status). EQ2Emulator
  sends 7 bytes when a world comes or goes and 8 bytes for its lock, so do we. The 2006 client is
  said to read 8 (docs/protocol/login.md#client-546): `long_status_only` (`login.long_world_status`
  of the configuration) sends 8 bytes in every case.
* **Green and blue of equipment** (docs/protocol/characters.md#looks). EQ2Emulator's loader swaps
  them, for color and highlight alike, by what looks like an accident. We send them straight;
  `swap_equipment_green_blue` is EQ2Emulator's way.
* **Account number in the login reply** (docs/protocol/login.md#accepted). Never the real one: 1 in
  the first reply, 0 in the second. A real number could make an old client use a character list it
  has kept. Fixed.
* **Most characters** (docs/protocol/characters.md#list). The delete reply always says 10, the list
  of clients up to 561 always 7, newer ones are told the setting. Clients keep to it themselves. The
  server's own bound is `LoginServiceConfig.character_limit`, answered with create code 4.
* **Keymap** (docs/protocol/login.md#keymap, docs/protocol/login.md#client-546). The 2006 client
  asks with OP_KeymapLoadMsg and knows two answers; EQ2Emulator sends neither and clients go on.
  Ignored, as are OP_AllCharactersDescRequestMsg (the list was sent with the worlds) and
  OP_ReskinCharacterRequestMsg. OP_BadLanguageFilter is never sent.
* **Skull slider** `unknown9` (docs/protocol/characters.md#entry). Three numbers of the create
  request that are said to be a slider; EQ2Emulator codes them like a color, so do we.
* **26 bytes in a create request of version 546** (docs/protocol/characters.md#create,
  docs/protocol/login.md#client-546). EQ2Emulator expects them before the hair file, the real client
  is said not to send them. Whichever of the two fits the message to its last byte is taken; see
  `emu.login.character_creation`.
* **Denial codes** (docs/protocol/login.md#reply-codes). Only 1 is ever sent, whatever the reason: a
  stranger learns nothing, and what newer codes do to old clients is not known.
* **Create request that no world can take**. EQ2Emulator answers nothing and, 15 s later, a play
  reply of code 8. A world that is not there is answered at once with create code 2 (no servers
  available); one that is there and never answers, after 15 s with EQ2Emulator's play code 8.
* **World goes while a play or create request waits for it**. Play code 0, create code 2, at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.rates import Allowance

FIRST_REPLY_ACCOUNT = 1
SECOND_REPLY_ACCOUNT = 0
DELETE_REPLY_MAX_CHARACTERS = 10


@dataclass(frozen=True, slots=True)
class CompatibilityChoices:
    """The choices above that an operator may turn round."""

    long_status_only: bool = False
    swap_equipment_green_blue: bool = False


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
    logins_at_once: int = 60
    """Times that an account may log in one after the other."""
    logins_per_minute: float = 60.0
    """The same over time."""
    address_logins_at_once: int = 300
    """Times that accounts may log in again from one address; the first time is free."""
    address_logins_per_minute: float = 300.0
    """The same over time."""
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
    choices: CompatibilityChoices = field(default_factory=CompatibilityChoices)


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
