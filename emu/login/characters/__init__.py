"""Characters as the login server lists them: rows, profiles, colors, and those being made."""
