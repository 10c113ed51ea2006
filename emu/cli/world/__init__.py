"""`emu world`: registered worlds, and what the built-in one takes over."""
