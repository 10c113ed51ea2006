"""The processes of one world, on the reactor."""
