"""The judge of purgatories: ``judge``; visits in ``visits``, blame in three parts.

``event_blame`` speaks of events, ``count_blame`` of counts, ``blame`` of the rest and of the order
in which they are asked.
"""
