"""Tell twistd and twist that `emu` exists; nothing else may happen at import time here."""

from twisted.application.service import ServiceMaker

emu = ServiceMaker("emu", "emu.tap", "EverQuest II login and world server", "emu")
