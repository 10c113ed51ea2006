"""Chat, channels and groups."""
