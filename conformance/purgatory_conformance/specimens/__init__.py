"""Small implementations that test the suite: correct specimens, and mutants that break a rule each.

``small`` has the correct ones, written from the rules in order to be broken. ``wrong`` breaks them;
the tables of ``*_mutants`` name for each mutant the rule that must be blamed. ``*_profiles`` have
one subject for each legal choice.
"""
