"""Figures, not tests: what the server costs, each beside something to compare it with."""
