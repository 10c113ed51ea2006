"""The sessions in a capture, from their first datagram or from the start of the capture."""
