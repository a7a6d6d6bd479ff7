"""The concurrent purgatory in the proposal's order of steps; begin with ``model``."""
