"""The web endpoint: health, metrics, JSON and the page, over HTTP by Twisted's own server."""
