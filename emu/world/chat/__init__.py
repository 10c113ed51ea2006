"""Chat: who hears what, channels of players' own, and friends and ignored ones."""

from __future__ import annotations

from emu.dialects.channels import ChannelNumbers, read_numbers
from emu.world.chat.channels import Channels
from emu.world.chat.speech import Chat

__all__ = ["ChannelNumbers", "Channels", "Chat", "read_numbers"]
