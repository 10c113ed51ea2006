"""The reliable channel: order, acknowledgments, loss, congestion, fragments and joining."""
