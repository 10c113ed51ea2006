"""What zones contain: definitions, files, population, knowledge, and imports."""
