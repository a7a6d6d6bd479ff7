"""The executable model: what may follow each step, as values and pure functions."""
