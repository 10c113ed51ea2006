"""The whole server as one JSON value, for programs beside it: made there, read and compared here.

It goes over the local console, by the command `snapshot`, to those who hold the machine: players'
addresses and the last lines of the log are in it.
"""

from __future__ import annotations

from emu.admin.snapshot.reading import Histogram, Snapshot

__all__ = ["Histogram", "Snapshot"]
