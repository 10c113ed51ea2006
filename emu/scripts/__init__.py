"""Lua scripts of EQ2Emulator's content: the runtime, its guard, and the functions for scripts."""
