"""Running zones: their spawns, their tick, and the directory of instances."""
