"""Smaller cases of each component, for whoever looks for the smallest one that still fails."""
