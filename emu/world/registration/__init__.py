"""The world's side of the link: status, zones, play requests, creating and deleting characters."""
