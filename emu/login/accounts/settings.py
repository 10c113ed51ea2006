"""What can be set about accounts, with its defaults: what hashes cost, and what guesses do."""

from __future__ import annotations

from dataclasses import dataclass, field

from emu.limits.throttle import Allowance

FROM_ADDRESS = Allowance(burst=30, refill=4.0)
FROM_KNOWN = Allowance(burst=10, refill=20.0)
FROM_NEW = Allowance(burst=3, refill=300.0)
FROM_STRANGERS = Allowance(burst=10, refill=20.0)
MADE_FROM_ADDRESS = Allowance(burst=20, refill=60.0)


@dataclass(frozen=True, slots=True)
class PasswordConfig:
    """What one hash costs."""

    memory_cost: int = 19456
    """KiB of memory.

    The default is OWASP's Argon2id setting of 19 MiB, 2 passes and 1 lane. It takes 1/7 of the time
    and 3/10 of the memory of 64 MiB and 3 passes, so that a crowd which comes back after a restart
    is in seven times as soon.
    """
    iterations: int = 2
    lanes: int = 1
    hash_size: int = 32
    """Bytes of the hash itself."""


@dataclass(frozen=True, slots=True)
class GuessConfig:
    """Wrong passwords that are let pass at once, and how soon one more is."""

    from_address: Allowance = FROM_ADDRESS
    """From one address (IPv6: one /64 network), for whatever name."""
    from_known: Allowance = FROM_KNOWN
    """For one account, from the address it logged in from last."""
    from_new: Allowance = FROM_NEW
    """For one account, from any other address, each."""
    from_strangers: Allowance = FROM_STRANGERS
    """For one account, from all other addresses together, beyond what each has of its own."""


@dataclass(frozen=True, slots=True)
class AccountConfig:
    """Everything tunable about logging in; times are seconds."""

    auto_create: bool = False
    """Make an account when an unknown name logs in."""
    passwords: PasswordConfig = field(default_factory=PasswordConfig)
    memory: float = 900.0
    """How long a verified password is remembered; 0 is never."""
    remembered: int = 50_000
    """Verified passwords remembered at once."""
    guesses: GuessConfig = field(default_factory=GuessConfig)
    creations: Allowance = MADE_FROM_ADDRESS
    """Accounts made from one address."""
