"""From application messages to cipher text and back: header, deflate stream, RC4 pair."""
