"""The content file: what an EQ2Emulator database says about a world, in one SQLite file."""
