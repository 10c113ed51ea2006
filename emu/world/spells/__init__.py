"""Spells: casts, what they leave behind, and the books of players."""
