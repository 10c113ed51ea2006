"""Opcode rows in the database: read, edited with their history, and watched."""
