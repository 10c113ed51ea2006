"""A client that plays a whole evening: quests, fights, loot and travel, by its messages alone.

`EveningPlayer` is the player. It knows what its client was sent and nothing else, so it plays any
world. It has no socket and no clock: its owner passes events and the time in.
"""
