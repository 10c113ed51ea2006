"""UDP ports: sessions and queries, with their sockets."""
