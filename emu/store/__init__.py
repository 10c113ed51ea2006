"""Everything that must outlive a restart: one SQLite file, its schema, and its rows.

`Store` is the synchronous store that the command line uses; `AsyncStore` and
`AsyncWorldCharacters` put the services' ports on top of it.
"""

from emu.store.addresses import BannedAddress
from emu.store.front import AsyncStore, AsyncWorldCharacters, Calls
from emu.store.roster import RosterEntry
from emu.store.store import Store
from emu.store.worlds import WorldReport

__all__ = [
    "AsyncStore",
    "AsyncWorldCharacters",
    "BannedAddress",
    "Calls",
    "RosterEntry",
    "Store",
    "WorldReport",
]
