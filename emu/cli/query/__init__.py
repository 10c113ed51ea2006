"""`emu query`: questions to any server, one protocol a verb."""
