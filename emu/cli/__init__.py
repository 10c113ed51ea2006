"""The `emu` command: nouns first, one module a noun. What a noun does lives below this layer."""
