"""Judges of runs on a real clock, where calls overlap.

``judge`` pairs the lines of calls with their returns and hands them to a *follower*: one for each
component, in ``timer``, ``purgatory`` and ``memory_pool``, each with its ``follower`` as the place
to begin. ``expiries`` waits for what is due; what a wrong line is blamed on is in ``blame``.
"""
