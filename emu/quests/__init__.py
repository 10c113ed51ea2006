"""Quests without a world: plans with their steps, what they ask for, and the journals of players.

Nothing here sends messages or knows of scripts. Source: docs/guides/quests.md.
"""
