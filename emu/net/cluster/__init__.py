"""What the processes of one world share, on the reactor."""
