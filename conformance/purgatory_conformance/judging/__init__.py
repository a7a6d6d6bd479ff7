"""Judging: whether an observed step is right, and which rules it tested or broke."""
