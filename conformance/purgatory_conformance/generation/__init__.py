"""Cases, drawn from tables of situations.

Each component has a folder. Its ``world`` is what a generator knows while it makes a case: the
model's state, if all goes by the rules. Its ``table`` has a row for each situation that a case
should reach: when it is possible, how to draw the operation. A ``Source`` (``source``) decides:
seeded random numbers, or Hypothesis, which then can shrink. A ``Draft`` is
a case while it is drawn, situation after situation.
"""
