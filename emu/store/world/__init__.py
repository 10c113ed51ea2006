"""The repositories of the built-in world."""
