"""Players' accounts and their characters: `emu account` and `emu character`."""
