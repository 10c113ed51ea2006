"""Subjects of the game that stand on their own: each has all that belongs to it in one module."""
