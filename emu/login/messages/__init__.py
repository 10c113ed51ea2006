"""What clients' messages mean: one handler each, their rules in `dispatch`, and the replies."""
