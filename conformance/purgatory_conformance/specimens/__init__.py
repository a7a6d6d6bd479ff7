"""Small implementations that test the suite: correct specimens, and mutants that break a rule each.

``small_timer``, ``small_purgatory``, ``small_memory_pool`` and ``small_channel_muting`` are
statements of their own of what the rules ask for, written to be broken. ``wrong`` breaks them; the
tables of ``*_mutants`` name for each mutant the rule that must be blamed. ``*_profiles`` have one
subject for each legal choice.
"""
