"""Names of client data versions.

The differences between versions are in `opcodes/` and `data/structs/`. A version has a name here
only if code needs it for a rule that no table can contain.
Source: docs/protocol/structs.md#versions, docs/protocol/opcodes.md#versions.
"""

from __future__ import annotations

CLIENT_2006 = 546
"""The 2006 client, the first one that this project supports."""

LAST_OLD_CLIENT = 561
"""The last version whose character list keeps deleted entries and whose creation starts play."""

LAST_UNREVERSED_PACK = 374
"""Versions 2 to this one pack literals in source order; all others reverse each group."""

NEWEST_KNOWN = 64753
"""The newest client build with known opcode numbers."""

LOGIN_VERSION_STEPS = (
    546, 561, 562, 843, 887, 1096, 1142, 1188, 1208, 57080, 60085, 60100, 60114, 63181, 64753,
)  # fmt: skip
"""The versions at which a login message changes its layout, and the versions in daily use."""
