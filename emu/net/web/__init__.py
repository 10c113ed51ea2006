"""The web endpoint: health, metrics, JSON and the page, over Twisted's HTTP server."""
