"""Content of zones: definitions, files, population, knowledge, and imports."""
