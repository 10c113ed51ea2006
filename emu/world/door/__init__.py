"""The world's door: hand-off keys are shown here, and whoever may not come in is turned away."""
