"""EQ2Emulator's Lua scripts in a running world: their events, functions and handles."""
