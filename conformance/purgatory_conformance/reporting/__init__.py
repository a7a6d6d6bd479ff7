"""Verdicts and stories, for terminals, for pages and for machines.

``results`` and ``results_file`` have what a campaign found; ``terminal``, ``html`` and ``machine``
show it. ``story`` tells a failing case step by step, in the words of ``describing``; ``drawing``
has the picture of a timer's. ``counterexample`` makes a narrative of a model's counterexample,
``concurrent`` of what threads did, and ``narrative`` prints it. ``marked_pages`` writes figures
into pages of the documentation.
"""
