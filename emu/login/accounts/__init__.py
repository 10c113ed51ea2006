"""Accounts: names, passwords, who may log in, and what slows guessing down."""
