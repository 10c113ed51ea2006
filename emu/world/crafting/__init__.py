"""Harvest, collections and crafting of players."""
