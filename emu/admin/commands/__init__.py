"""The server's own commands, by subject; the world's are in `emu.world.commands`.

Each module declares its commands in `COMMANDS`; `emu.commands` explains how to add one.
"""
