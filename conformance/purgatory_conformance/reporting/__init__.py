"""Verdicts and stories, for terminals, for pages and for machines.

``results`` and ``results_file`` have what a campaign found; ``terminal``, ``html`` and ``machine``
show it. ``story`` and ``narrative`` tell a failing case or a counterexample step by step, in the
words of ``describing``; ``drawing`` has the picture of a timer's. ``concurrent`` tells what threads
did. ``marked_pages`` writes figures into pages of the documentation.
"""
