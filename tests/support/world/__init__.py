"""Worlds for tests: zones, players and what they are sent, without sockets."""
