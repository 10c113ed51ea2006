"""Small databases of content for tests."""
