"""Settings of the built-in world server: addresses, link, admission, saves and turns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from emu.config.readers import CRC_SEED, FINGERPRINT_OR_NONE, HOST_OR_NONE, Address
from emu.config.setting import file_or_none, secret_text, setting
from emu.session import EndpointConfig
from emu.world.rules import AdmissionRules, CreationRules, WorldRules, ZoneRules

# The world states its own defaults, so that it also runs without a configuration.
_ENDPOINT: Final = EndpointConfig()
_WORLD: Final = WorldRules("Norrath")
_ZONE: Final = ZoneRules()
_ADMISSION: Final = AdmissionRules()
_CREATION: Final = CreationRules()


# Without slots: a class with several bases that have them cannot be made.
@frozen(slots=False)
class WorldServerSettings:
    """Where a world listens, whom it admits, and when it saves and looks for faults."""

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
