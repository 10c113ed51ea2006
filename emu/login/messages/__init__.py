"""The handlers of clients' messages, and the payloads of the replies."""
