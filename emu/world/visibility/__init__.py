"""Visibility: interest sets, baselines and deltas, and ghosts for each client version."""
