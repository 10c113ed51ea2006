"""Records of running zones: what came into a zone, when, and the seed of its chance."""
