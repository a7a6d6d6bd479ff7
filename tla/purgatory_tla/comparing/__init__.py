"""Comparison of the state graphs of an executable model and a TLA+ module.

Begin with ``binding`` (what is claimed) and ``comparing`` (how it is decided). ``history_dump``
reads TLC's graph, ``state_graph`` builds the model's, ``numbering`` gives both the same numbers,
``graph_differences`` finds the shortest path to what only one of them has, ``report`` prints it.
The bound pairs are in ``purgatory_tla.bindings``.
"""
