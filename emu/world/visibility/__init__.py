"""What each viewer is shown: interest sets, baselines, ghosts for each client version."""
