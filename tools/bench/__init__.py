"""Benchmarks: the costs of the server, each with a yardstick."""
