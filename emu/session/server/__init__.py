"""The sessions of one server address: who gets one, how many, and what they add up to."""
