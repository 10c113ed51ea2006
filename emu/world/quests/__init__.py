"""Quests of players in a world: offers, journals, steps, rewards and the marks over spawns."""
