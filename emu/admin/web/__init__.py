"""What the server tells over HTTP: JSON for programs, and what a page shows of the last hours."""
