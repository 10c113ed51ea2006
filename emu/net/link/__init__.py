"""The TCP link between worlds and the login service on the reactor."""
