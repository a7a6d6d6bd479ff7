"""Overlapping calls: whether some order of them is allowed by the sequential rules.

``checker.check_run`` decides it for one run of a trace. ``search`` looks for an order, ``decision``
cuts long histories and bounds the time and the memory, ``refutation`` says where and why none is
left, and ``shares`` knows what of a run is to be explained by which rules.
"""
