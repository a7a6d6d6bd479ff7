"""Small implementations that test the suite: correct specimens, and mutants that break a rule each.

``small`` has the correct ones, written from the rules in order to be broken. ``wrong`` breaks them:
each mutant is registered where it is written, with the rule that must be blamed.
``profile_subjects`` has one subject for each legal choice.
"""
