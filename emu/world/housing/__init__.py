"""Houses of players: buying, entering, leaving, upkeep and access."""
