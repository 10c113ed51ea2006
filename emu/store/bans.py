"""Rows of banned addresses; what a ban covers is `emu.limits.bans`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from emu.store.repository import Repository, changes, reads
from emu.times import UNKNOWN, Moment


@dataclass(frozen=True, slots=True)
class BannedAddress:
    """One ban. `until` is the unix time at which it ends, None for never."""

    prefix: str
    """As `emu.limits.bans.normalize_prefix` spells it."""
    reason: str = ""
    added: Moment = UNKNOWN
    until: Moment | None = None


class Bans(Repository):
    """Rows of bans."""

    @changes
    def add(self, entry: BannedAddress) -> bool:
        """Store a ban; one for the same prefix is replaced. True when it is new."""
        known = self.is_stored(entry.prefix)
        self._table("banned_addresses").upsert(asdict(entry), pk="prefix")
        return not known

    @reads
    def is_stored(self, prefix: str) -> bool:
        """Say whether there is a ban of exactly this prefix, ended or not."""
        found = self._run("SELECT 1 FROM banned_addresses WHERE prefix = ?", (prefix,))
        return found.fetchone() is not None

    @changes
    def lift(self, prefix: str) -> bool:
        """Remove a ban; True when there was one."""
        gone = self._run("DELETE FROM banned_addresses WHERE prefix = ?", (prefix,))
        return gone.rowcount == 1

    @reads
    def every(self) -> list[BannedAddress]:
        """Return all bans, ended ones too."""
        rows = self._run(
            "SELECT prefix, reason, added, until FROM banned_addresses ORDER BY prefix"
        )
        return [BannedAddress(**dict(row)) for row in rows]
