"""Behaviours of the TLA+ modules as cases: what TLC found, asked of an implementation.

A behaviour is a sequence of states; a case is a sequence of operations with their outcomes. For
each module of TLA+ a module here maps the steps to operations, and the states to predicted
outcomes. The prediction is made of TLA+ states alone: no model of this project, and no
implementation, has a word in it.

Not every behaviour can be driven. An operation of the step vocabulary is a whole call, so calls
that interleave must have an order in which they come one after another; and what a module leaves to
chance is sometimes the implementation's to choose. Where a behaviour cannot be driven, the step at
which that shows is named, and what comes before it is a case all the same.
"""
