"""The `emu` command: nouns first, a module or a package a noun. What a noun does lives below."""
