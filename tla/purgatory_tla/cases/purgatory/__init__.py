"""Behaviours of the purgatory's modules as cases: calls, delays, states, both accountings."""
