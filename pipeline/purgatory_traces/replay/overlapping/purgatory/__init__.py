"""A purgatory on a real clock, followed operation by operation; begin with ``follower``."""
