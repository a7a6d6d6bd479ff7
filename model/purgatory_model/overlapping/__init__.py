"""Calls that overlap: what threads may do to one another, and which sequential rules still hold.

Begin with ``interleaving``: threads, labelled steps, and the history that a run leaves (what was
called, what returned). ``programs`` says which calls each thread makes, ``histories`` lists what
may be seen of them. ``linearizability`` asks whether sequential rules explain a history, and
``sequential_rules`` says what such rules have to offer; ``explained_runs`` asks it of all histories
of a model without listing them.

A purgatory is explained operation by operation: ``projection`` takes out of a history what concerns
one delayed operation, and ``calls`` says what calls do to it that overlap.

``timer_calls`` says which calls of a timer take effect at two instants.
"""
