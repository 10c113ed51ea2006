"""Databases for tests."""
