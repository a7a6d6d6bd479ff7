"""Judging: whether an observed step is right, which rules it put to the test, which one it broke."""
