"""All persistent data: a repository for each subject, over one SQLite file.

The command line uses `Store`; `emu.store.asynchronous` implements the services' ports with it.
"""

from emu.store.accounts import BannedAddress
from emu.store.store import LoginStore, Store, WorldStore
from emu.store.worlds import WorldReport

__all__ = ["BannedAddress", "LoginStore", "Store", "WorldReport", "WorldStore"]
