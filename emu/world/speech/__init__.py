"""Lines, gestures, sounds and windows that players are sent."""
