"""The shipped behaviors; they also serve as examples."""
