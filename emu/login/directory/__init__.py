"""The worlds' directory: which worlds are connected, what they report, and what they are asked."""
