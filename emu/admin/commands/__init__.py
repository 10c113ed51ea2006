"""Commands of the server itself, by subject; the world's are `emu.world.commands`.

Each room has a function `commands` that takes what its commands work on.
"""
