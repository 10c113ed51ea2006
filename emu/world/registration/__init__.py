"""What the world and the login server tell each other: status, zones, play, create and delete."""
