"""Overlapping calls: whether some order of them is allowed by the sequential rules.

``checker.check_run`` decides it for one run of a trace. ``shares`` and ``operation_shares`` say
what of a run is explained together, ``*_rules`` by which rules. ``decision`` cuts a long history
into pieces, ``search`` looks for an order of one within a ``budget`` of configurations,
``refutation`` says how far there is one. ``words``, ``page`` and ``timeline`` tell it.
"""
