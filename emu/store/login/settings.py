"""Values taken over from another server's database, kept for reference."""

from __future__ import annotations

from emu.store.repository import Repository, changes, reads


class Settings(Repository):
    """Rows of settings: a name and a value, and the table they come from."""

    @changes
    def put(self, source: str, name: str, value: str) -> bool:
        """Keep a value; True when it is new or another one than before."""
        if self.of_source(source).get(name) == value:
            return False
        row = {"source": source, "name": name, "value": value}
        self._table("settings").upsert(row, pk=("source", "name"))
        return True

    @reads
    def of_source(self, source: str) -> dict[str, str]:
        """Return name -> value of what was taken from one table."""
        rows = self._table("settings").rows_where("source = ?", [source], select="name, value")
        return {row["name"]: row["value"] for row in rows}
