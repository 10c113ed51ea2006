"""The sessions in a capture: followed from their first datagram, or from where it begins."""
