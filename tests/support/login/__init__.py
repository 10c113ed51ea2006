"""A login service and its link for tests: fakes, harnesses and scripted ends."""
