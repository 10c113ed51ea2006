"""Several processes that are one world, on the reactor: the hub's port, a member's connection."""
