"""A timer on a real clock, followed arming by arming; begin with ``follower``."""
