"""Several processes of one world, in one test."""
