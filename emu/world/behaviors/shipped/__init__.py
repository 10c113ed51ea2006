"""Behaviors that come with the program; they are examples as well."""
