"""Both sides of sessions for tests: on simulated networks, and written from the pages alone."""
