"""Travel: doors and lifts, signs, transporters, places that move players, instances."""
