"""Figures, not tests: what the house costs, each beside something to compare it with."""
