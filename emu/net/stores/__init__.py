"""The database as the reactor uses it: threads for its connections, and changes written behind."""
