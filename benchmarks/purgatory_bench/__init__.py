"""Measurements: what the implementation costs beside its peers, and what the tools cost."""
