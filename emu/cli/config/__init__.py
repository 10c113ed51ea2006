"""`emu config`: the settings, shown and checked."""
