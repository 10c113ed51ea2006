"""The login service on the reactor: its clients, and the threads for password hashes."""
