"""Settings and limits of the login service, and its choices where facts are uncertain.

The rule is to follow EQ2Emulator's login server, because every client in use has been used with it.
A difference that a client could notice is a setting in `CompatibilityChoices`.

* **World status, two layouts under one opcode** (docs/protocol/login.md#world-status). EQ2Emulator
  sends 7 bytes when a world comes or goes, and 8 bytes for each world that is up twice a second.
  This server sends the same 7 bytes, and 8 bytes after a change of the lock. The 2006 client is
  said to read 8 (docs/protocol/login.md#client-546): `long_status_only` (`login.long_world_status`
  in the configuration) sends 8 bytes in every case.
* **End of a session at the lists** (docs/protocol/login.md#world-updates). EQ2Emulator disconnects
  every client half an hour after its request for the worlds. This server does so half an hour after
  its last application message.
* **Green and blue of equipment** (docs/protocol/characters.md#looks). EQ2Emulator's loader swaps
  them, for color and highlight, apparently by accident. This server does not swap them;
  `swap_equipment_green_blue` does.
* **Account number in the login reply** (docs/protocol/login.md#accepted). Never the real one: 1 in
  the first reply, 0 in the second. A real number could make an old client use a cached character
  list. Fixed.
* **Most characters** (docs/protocol/characters.md#list). The delete reply always says 10, the list
  of clients up to 561 always 7; newer ones are sent the setting. Clients enforce it themselves. The
  server's own bound is `LoginServiceConfig.character_limit`, answered with create code 4.
* **Keymap** (docs/protocol/login.md#keymap, docs/protocol/login.md#client-546). The 2006 client
  sends OP_KeymapLoadMsg and knows two answers. EQ2Emulator sends neither, and clients continue. The
  message is ignored, as are OP_AllCharactersDescRequestMsg (the list was sent with the worlds) and
  OP_ReskinCharacterRequestMsg. OP_BadLanguageFilter is never sent.
* **Skull slider** `unknown9` (docs/protocol/characters.md#entry). Three numbers of the create
  request that are said to be a slider. EQ2Emulator codes them like a color, and so does this
  server.
* **26 bytes in a create request of version 546** (docs/protocol/characters.md#create,
  docs/protocol/login.md#client-546). EQ2Emulator expects them before the hair file; the real client
  is said not to send them. The layout that fits the exact size of the message is used; see
  `emu.login.character_creation`.
* **Denial codes** (docs/protocol/login.md#reply-codes). An unknown name and a wrong password get
  the same code, 1, so that a denial does not reveal which names exist; see
  `emu.login.messages.replies`.
* **Create request that no world can take**. EQ2Emulator sends nothing and, 15 s later, a play reply
  of code 8. This server answers at once with create code 2 (no servers available) if the world is
  not connected. If the world does not answer, the client gets EQ2Emulator's play code 8 after 15 s.
* **World gone while a play or create request waits for it**. Play code 0, create code 2, at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.rates import Allowance

FIRST_REPLY_ACCOUNT = 1
SECOND_REPLY_ACCOUNT = 0
DELETE_REPLY_MAX_CHARACTERS = 10


@dataclass(frozen=True, slots=True)
class CompatibilityChoices:
    """The choices above that an operator may change."""

    long_status_only: bool = False
    swap_equipment_green_blue: bool = False


NEW_WORLDS = Allowance(burst=10, refill=600.0)


@dataclass(frozen=True, slots=True)
class LoginServiceConfig:
    """Settings of the client side of the login service. Times are seconds."""

    expansion_flag: int = 0x7CFF
    """Expansions in the login reply; docs/protocol/login.md#accepted has the bits."""
    cities_flag: int = 0xFF
    """Starting cities, one bit each."""
    subscription_level: int = 0xFFFFFFFF
    enabled_races: int = 0xFFFF
    max_characters: int = 7
    """Characters an account may have, as sent to clients above 561."""
    character_limit: int = 100
    """Characters of one account above which the server refuses more, unless `max_characters` is
    greater.

    A list counts its entries in one byte.
    """
    creations_per_hour: int = 20
    """Create requests of one account that are passed on to worlds."""
    logins_at_once: int = 60
    """Logins of one account in quick succession."""
    logins_per_minute: float = 60.0
    """Logins of one account per minute."""
    address_logins_at_once: int = 300
    """Repeated logins from one address in quick succession; an account's first one is free."""
    address_logins_per_minute: float = 300.0
    """Repeated logins from one address per minute."""
    logins_per_address: int = 32
    """Clients logged in at once from one IP address."""
    account_name_size: int = 31
    """Longest account name, in bytes on the wire."""
    password_size: int = 255
    """Longest password in bytes; longer ones are refused before any hash is computed."""
    character_name_size: int = 63
    """Longest character name passed on to a world, in bytes."""
    denial_linger: float = 1.0
    """Time between a denial and the disconnect, so that the datagram leaves first."""
    login_timeout: float = 60.0
    """Time for a login after the session is established."""
    list_lifetime: float = 1800.0
    """Time that a logged-in client may send no application message; 0 is unlimited."""
    play_timeout: float = 5.0
    """Time for a world's answer; longer in a cluster, whose nodes hold players for a lost one."""
    create_timeout: float = 15.0
    create_memory: float = 120.0
    """Time an unanswered create request is kept, so that a late answer still saves the character.
    """
    status_delay: float = 0.25
    """Time for which changes of world status are collected before they are sent."""
    zone_memory: float = 60.0
    """Time zone texts of a world are kept before they are read again."""
    waiting_messages: int = 64
    """Messages of one client that may wait while an earlier one is handled."""
    waiting_before_login: int = 4
    """The same before the login."""
    client_log_bytes: int = 262_144
    """Bytes to which a client log is inflated at most."""
    client_logs: int = 16
    """Client logs stored for one session; further ones are counted and dropped."""
    choices: CompatibilityChoices = field(default_factory=CompatibilityChoices)


@dataclass(frozen=True, slots=True)
class DirectoryConfig:
    """Which worlds may register, and how much they may report; times are seconds."""

    server_versions: tuple[str, ...] = ("*",)
    """World program versions that may register; ``*`` is any."""
    unregistered_worlds: bool = False
    """Let unknown worlds register, and add them to the store."""
    new_worlds: Allowance = NEW_WORLDS
    """Unknown worlds that one address may register (IPv6: one /64 network)."""
    max_players: int = 5_000
    """Players a world may report; one more and its link ends."""
    max_zones: int = 500
    status_record_interval: float = 60.0
    """Time between two records of an unchanged status in the store."""
    waiting_updates: int = 2_048
    """Updates of one world that may wait for the store."""
    unanswered: int = 4_096
    """Play and create requests that one world may leave unanswered."""
    answer_memory: float = 120.0
    """Time an unanswered request is kept, so that a late answer still counts."""
