"""Players: their clients, and everything that happens between entering a zone and leaving it."""
