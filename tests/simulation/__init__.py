"""The whole server in one process and virtual time, from one seed."""
