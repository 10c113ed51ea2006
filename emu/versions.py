"""Names for the client data versions that the project speaks of; no behaviour hangs on them here.

What differs between versions lives in `opcodes/` and `data/structs/`. A number belongs here only
when code must say where a rule of the wire begins that no table can hold.
Source of the steps: docs/protocol/structs.md#versions, docs/protocol/opcodes.md#versions.
"""

from __future__ import annotations

CLIENT_2006 = 546
"""The 2006 client, the one this project serves first."""

LAST_OLD_CLIENT = 561
"""Up to here the character list keeps deleted entries and creation leads straight to play."""

LAST_UNREVERSED_PACK = 374
"""Versions 2 to 374 pack literals in source order; all others reverse each group."""

NEWEST_KNOWN = 64753
"""The newest client build with known opcode numbers."""

LOGIN_VERSION_STEPS = (
    546, 561, 562, 843, 887, 1096, 1142, 1188, 1208, 57080, 60085, 60100, 60114, 63181, 64753,
)  # fmt: skip
"""Client versions at which some login message changes its layout, and those in daily use."""
