"""Fights: blows, the minds of creatures that fight, death and what follows from it."""
