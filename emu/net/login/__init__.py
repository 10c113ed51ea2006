"""The login service as it runs, with its clients and the threads for its passwords."""
