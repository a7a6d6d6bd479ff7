"""Smaller cases of a failing case, a module for each component.

A reducer proposes; whoever shrinks (``running.shrinking``, a campaign, the state machines) asks the
subject and keeps what still fails. Begin with ``timer``: fewer tasks, smaller delays, fewer steps.
"""
