"""The shared machinery of behaviors and scripts."""
