"""The HTTP side of administration: JSON for programs, and the data of the web page."""
