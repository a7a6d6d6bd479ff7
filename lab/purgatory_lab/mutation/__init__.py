"""The share of automatic mutants that the conformance suite finds alone; begin with ``scope``."""
