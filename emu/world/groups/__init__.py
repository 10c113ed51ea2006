"""Groups and raids: their members, and the changes of all processes in one order."""
