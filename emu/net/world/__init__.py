"""The built-in world as it runs, with its players' clients."""
