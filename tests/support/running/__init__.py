"""Commands and whole servers that tests run."""
