"""Several processes of one world on the reactor: the hub's port, and a member's connection."""
