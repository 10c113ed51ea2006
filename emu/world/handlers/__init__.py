"""Handlers of the messages with which players act on what is around them."""
