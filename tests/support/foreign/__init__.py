"""Programs and libraries that none of us wrote, for tests."""
