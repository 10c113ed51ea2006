"""What is the same in every client version, stated once for servers, test client and captures."""

from __future__ import annotations

from typing import Final

LOGIN_REQUEST: Final = 0
LOGIN_BY_NUMBER: Final = 1
"""Opcodes of a client's first message, to a login server and at a world's door.

Source: docs/protocol/opcodes.md#data-sets.
"""
CLIENT_COMMAND: Final = "OP_ClientCmdMsg"
"""The message that most of what a world says comes in (docs/protocol/structs.md#client-cmd)."""
AVATAR_READY: Final = "sys_client_avatar_ready"
"""The signal of a client whose body stands in the zone."""
NO_TARGET: Final = 0xFFFF
"""Index of a ghost that says nobody is meant."""
NOT_SEEN: Final = 0xFFFFFFFF
"""Spawn of a speaker or listener whom the client is not shown."""
DELETED_NAME: Final = "(deleted)"
"""Name in the character list of one that was deleted in this session."""
