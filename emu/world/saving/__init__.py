"""Saves of players: periodically, on leaving, and after a change."""
