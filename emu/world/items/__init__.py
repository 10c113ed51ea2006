"""Things of players: lists, windows, acts, and their storage."""
