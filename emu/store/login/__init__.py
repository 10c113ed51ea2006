"""The repositories of the login service."""
