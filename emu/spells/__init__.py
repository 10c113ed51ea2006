"""Spells as they are described: pure values without a world."""
