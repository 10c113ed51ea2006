"""Movements between owners, and the balances of players in the world."""
