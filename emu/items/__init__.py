"""Things: kinds, what somebody has, and the rules of bags and of wearing, without a world."""
