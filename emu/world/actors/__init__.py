"""Spawns and players: place, movement, appearance, state, and the player's client."""
