"""The functions that scripts can call, by subject."""
