"""Names and arguments of the functions for scripts, and trials of scripts without a world."""
