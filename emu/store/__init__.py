"""Everything that must outlive a restart: a repository for each subject, over one SQLite file.

`Store` is what the command line uses; `emu.store.front` puts the services' ports on top of it.
"""

from emu.store.accounts import BannedAddress
from emu.store.store import LoginStore, Store, WorldStore
from emu.store.worlds import WorldReport

__all__ = ["BannedAddress", "LoginStore", "Store", "WorldReport", "WorldStore"]
