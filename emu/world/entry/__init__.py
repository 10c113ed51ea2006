"""Zone entry: admission, entering, taking over, leaving and saving."""
