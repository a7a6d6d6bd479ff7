"""Judges of runs on a real clock, where calls overlap.

``judge`` pairs the lines of calls with their returns and hands them to a follower: one for each
component, in ``timer``, ``purgatory`` and ``memory_pool``, each with its ``follower`` as the place
to begin. What is known of a run lies in ``knowledge``, what a wrong line is blamed on in ``blame``.
``timer_armings`` follows single armings by intervals of time, for timer and purgatory alike.
"""
