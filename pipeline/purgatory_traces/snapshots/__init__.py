"""States of models from ``snapshot`` lines of an instance.

The replay and the search for an order of calls both begin in the middle of a run with it.
``snapshots`` is for runs in which calls follow one another; begin there.
"""
