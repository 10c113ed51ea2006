"""Datagrams on the reactor: ports with sessions, ports for questions, and their system calls."""
