"""The test client on the reactor: logging in, entering the world, and many at once."""
